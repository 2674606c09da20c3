import type { ChallengeEvent, PushEventType } from "express-push-verification";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { parseEvent } from "../../../lib/core/event/parse";
import { decodeForm, readBytes } from "../../../lib/core/event/form";
import { measureHeap } from "../../support/heap";
import { CHALLENGE_SID, encodeForm, eventPairs } from "../../support/webhook-requests";

const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;
const eventOf = (
  type: PushEventType,
  challenge_sid = CHALLENGE_SID,
  overrides: Record<string, string> = {},
) => parseEvent(eventPairs(type, "v2", { challenge_sid, ...overrides })) as ChallengeEvent;
const waitOf = (challengeSid = CHALLENGE_SID, account = "AC1") => ({
  account,
  challengeSid,
  timeoutMs: 200,
});

afterEach(() => jest.useRealTimers());

describe("createMemoryOutcomes", () => {
  it.each([
    ["challenge.approved", "the event", () => undefined],
    ["challenge.denied", "its form", (form: string) => readBytes(form)],
  ] as const)(
    "resolves a wait with %s, before and after %s was recorded",
    async (type, _what, formOf) => {
      const outcomes = createMemoryOutcomes();
      const event = eventOf(type);
      const early = [outcomes.wait(waitOf()), outcomes.wait(waitOf())];
      await outcomes.record("AC1", eventOf(type, sidOf(1)));
      await outcomes.record("AC1", event, formOf(encodeForm(event.params)));
      expect(await Promise.all(early)).toEqual([event, event]);
      expect(await outcomes.wait(waitOf())).toEqual(event);
    },
  );

  it.each([
    ["beyond Latin-1", "€".repeat(6_000), 1_600],
    ["with an encoded form", "%78".repeat(20_000), 1_000],
    ["with a form of separators", `x%22%7D${"&".repeat(6_000)}&ignored=`, 13_000],
    ["of 4 kB", "x".repeat(3_000), 5_000],
  ])("holds at most 16 MiB for events %s, also of a quiet account", async (_what, text, count) => {
    const outcomes = createMemoryOutcomes();
    const large = `&challenge_hidden_details=${encodeURIComponent('{"text":"')}${text}%22%7D`;
    const before = measureHeap();
    for (let index = 0; index < count; index++) {
      const overrides = { challenge_sid: sidOf(index), challenge_hidden_details: undefined };
      const form = encodeForm(eventPairs("challenge.approved", "v2", overrides)) + large;
      const event = parseEvent(decodeForm(form)) as ChallengeEvent;
      await outcomes.record("busy", event, readBytes(form));
      if (index % 50 === 0)
        await outcomes.record("quiet", eventOf("challenge.denied", sidOf(index)));
    }
    // 1 MiB more, for allocations of the test framework.
    expect(measureHeap() - before).toBeLessThan(17 * 2 ** 20);
    await expect(outcomes.wait(waitOf(sidOf(count - 1), "busy"))).resolves.toHaveProperty("type");
    await expect(outcomes.wait(waitOf(sidOf(0), "quiet"))).resolves.toHaveProperty("type");
    const evicted = outcomes.wait(waitOf(sidOf(0), "busy"));
    await expect(evicted).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });

  it("keeps the first outcome for 24 h, and not longer", async () => {
    jest.useFakeTimers();
    const ttlMs = 86_400_000;
    const outcomes = createMemoryOutcomes();
    await outcomes.record("AC1", eventOf("challenge.denied"));
    await outcomes.record("AC1", eventOf("challenge.approved"));
    jest.advanceTimersByTime(ttlMs - 1);
    expect(await outcomes.wait(waitOf())).toHaveProperty("type", "challenge.denied");
    jest.advanceTimersByTime(1);
    const wait = outcomes.wait(waitOf());
    await outcomes.record("AC1", eventOf("challenge.approved"));
    await expect(wait).resolves.toHaveProperty("type", "challenge.approved");
  });
});
