import {
  chooseHonestCut,
  createRandom,
  FRAGMENTS,
  honestCut,
  listFreeFields,
  UNLUCKY_NAMES,
} from "../support/attacker-texts";
import { countForeign, joinCut, listCuts } from "../support/cuts";
import { createChooseCut } from "../support/random-cuts";

describe("all cuts of a text", () => {
  const extras = {
    api_version: "2",
    delivery_attempt: "1",
    factor_status: "on",
    tag: "t",
    tz: "UTC",
  };
  const pairs = FRAGMENTS.flatMap((one) => FRAGMENTS.map((other) => one + other));

  it.each<[version: "v1" | "v2", eventType: string, extra: Record<string, string>, text: string[]]>(
    [
      ["v1", "challenge.approved", {}, FRAGMENTS],
      ["v1", "factor.verified", {}, [...FRAGMENTS, ...pairs]],
      ["v1", "challenge.approved", { ...extras, zone: "eu" }, FRAGMENTS],
      ["v1", "factor.verified", { ...extras, zone: "eu" }, FRAGMENTS],
      ["v2", "challenge.approved", {}, FRAGMENTS.slice(0, 9)],
      ["v2", "factor.verified", {}, FRAGMENTS],
      ["v2", "factor.verified", { tag: "t" }, FRAGMENTS.slice(0, 8)],
      ["v1", "challenge.expired", { zone: "eu", tag: "t" }, FRAGMENTS],
    ],
  )("has no accepted other event: %s %s %j", (version, eventType, extra, texts) => {
    const count = { foreign: 0, accepted: 0 };
    for (const field of [...listFreeFields(version, eventType), ...Object.keys(extra)]) {
      // Its values are words of the service; see SECURITY.md.
      if (field === "factor_status") continue;
      for (const attackerText of texts) {
        const honest = honestCut(version, eventType, { ...extra, [field]: attackerText });
        const text = joinCut(honest);
        const { foreign, accepted } = countForeign(honest, listCuts(text, ["event_x", "f"]));
        count.foreign += foreign;
        count.accepted += accepted;
      }
    }
    expect(count.foreign).toBeGreaterThan(0);
    expect(count.accepted).toBe(0);
  });
});

describe("random cuts of a text", () => {
  it.each([
    ["no declared names", []],
    ["declared names that contain others", UNLUCKY_NAMES],
  ])(
    "has no accepted other event in 40,000 with %s",
    (_what, declared) => {
      const random = createRandom(12);
      const count = { foreign: 0, accepted: 0 };
      for (let run = 0; run < 1_000; run++) {
        const honest = chooseHonestCut(random, declared);
        const chooseCut = createChooseCut(joinCut(honest), random);
        const cuts = Array.from({ length: 40 }, chooseCut);
        const { foreign, accepted } = countForeign(honest, cuts, declared);
        count.foreign += foreign;
        count.accepted += accepted;
      }
      expect(count.foreign).toBeGreaterThan(1_000);
      expect(count.accepted).toBe(0);
    },
    60_000,
  );
});
