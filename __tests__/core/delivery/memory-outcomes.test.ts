import type { ChallengeEvent } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { toOutcome } from "../../../lib/core/delivery/outcome";
import { measureHeap } from "../../support/heap";
import { CHALLENGE_SID } from "../../support/webhook-requests";

const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;
const outcomeOf = (type: ChallengeEvent["type"]) =>
  toOutcome(eventFixture(type, { challenge_sid: CHALLENGE_SID }));
const waitOf = (challengeSid = CHALLENGE_SID, authenticatedAccount = "AC1") => ({
  authenticatedAccount,
  challengeSid,
  timeoutMs: 200,
});

afterEach(() => jest.useRealTimers());

it("resolves a wait with an outcome that is recorded before or after it", async () => {
  const outcomes = createMemoryOutcomes();
  const denied = outcomeOf("challenge.denied");
  const outcome = { ...denied, entity_identity: "Zoë\ud800\n\"'\\" };
  const early = [outcomes.wait(waitOf()), outcomes.wait(waitOf())];
  await outcomes.record("AC1", { ...denied, challenge_sid: sidOf(1) });
  await outcomes.record("AC1", outcome);
  expect(await Promise.all(early)).toEqual([outcome, outcome]);
  expect(await outcomes.wait(waitOf())).toEqual(outcome);
});

it.each([
  ["of 64 characters", "x".repeat(64), 110_000, 13_000],
  ["beyond ASCII", "€".repeat(600), 14_000, 13_999],
])(
  "holds 100,000 outcomes or 52 MiB for identities %s, also of a quiet account",
  async (_what, id, count, kept) => {
    const outcomes = createMemoryOutcomes();
    const before = measureHeap();
    const outcome = outcomeOf("challenge.approved");
    for (let index = 0; index < count; index++) {
      // Texts of its own, as in an event that was parsed.
      const entity_identity = Buffer.from(id).toString();
      const one = { ...outcome, challenge_sid: sidOf(index), entity_identity };
      await outcomes.record("busy", one);
      if (index % 50 === 0) await outcomes.record("quiet", one);
    }
    // 1 MiB more, for allocations of the test framework.
    expect(measureHeap() - before).toBeLessThan(53 * 2 ** 20);
    await expect(outcomes.wait(waitOf(sidOf(kept), "busy"))).resolves.toHaveProperty("type");
    await expect(outcomes.wait(waitOf(sidOf(0), "quiet"))).resolves.toHaveProperty("type");
    const evicted = outcomes.wait(waitOf(sidOf(0), "busy"));
    await expect(evicted).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  },
);

it("keeps the first outcome for 24 h", async () => {
  jest.useFakeTimers();
  const outcomes = createMemoryOutcomes();
  await outcomes.record("AC1", outcomeOf("challenge.denied"));
  await outcomes.record("AC1", outcomeOf("challenge.approved"));
  jest.advanceTimersByTime(86_399_999);
  expect(await outcomes.wait(waitOf())).toHaveProperty("type", "challenge.denied");
  jest.advanceTimersByTime(1);
  const wait = outcomes.wait(waitOf());
  await outcomes.record("AC1", outcomeOf("challenge.approved"));
  await expect(wait).resolves.toHaveProperty("type", "challenge.approved");
});
