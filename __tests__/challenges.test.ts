import type { PushEvent, PushEventType } from "express-push-verification";
import { createChallengeOutcomes } from "../lib/challenges";
import { parsePayload } from "../lib/payload";
import { callParams, CHALLENGE_SID } from "./support/calls";

const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;

function event(type: PushEventType, sid = CHALLENGE_SID): PushEvent {
  const overrides = type.startsWith("challenge.") ? { challenge_sid: sid } : {};
  return parsePayload(callParams(type, "v1", overrides)) as PushEvent;
}

afterEach(() => jest.useRealTimers());

describe("createChallengeOutcomes", () => {
  it.each(["challenge.approved", "challenge.denied"] as const)(
    "resolves with the event of %s, before and after it came",
    async (type) => {
      const outcomes = createChallengeOutcomes();
      const outcome = event(type);
      const early = [outcomes.wait(CHALLENGE_SID), outcomes.wait(CHALLENGE_SID)];
      outcomes.prepare(event("factor.created"))();
      outcomes.prepare(event(type, sidOf(1)))();
      outcomes.prepare(outcome)();
      expect(await Promise.all(early)).toEqual([outcome, outcome]);
      expect(await outcomes.wait(CHALLENGE_SID)).toEqual(outcome);
    },
  );

  it("keeps the first outcome", async () => {
    const outcomes = createChallengeOutcomes();
    outcomes.prepare(event("challenge.denied"))();
    outcomes.prepare(event("challenge.approved"))();
    expect(await outcomes.wait(CHALLENGE_SID)).toHaveProperty("type", "challenge.denied");
  });

  it("ends a wait after timeoutMs", async () => {
    const wait = createChallengeOutcomes().wait(CHALLENGE_SID, { timeoutMs: 20 });
    await expect(wait).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT", status: 504 });
  });

  it("ends a wait after 5 minutes by default", async () => {
    jest.useFakeTimers();
    const rejected = jest.fn();
    void createChallengeOutcomes().wait(CHALLENGE_SID).catch(rejected);
    await jest.advanceTimersByTimeAsync(299_999);
    expect(rejected).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(rejected).toHaveBeenCalledWith(expect.objectContaining({ code: "CHALLENGE_TIMEOUT" }));
  });

  it("ends a wait with the reason of its signal, and leaves no listener on it", async () => {
    const outcomes = createChallengeOutcomes();
    const controller = new AbortController();
    const reason = new Error("the user left");
    const remove = jest.spyOn(controller.signal, "removeEventListener");
    const wait = outcomes.wait(CHALLENGE_SID, { signal: controller.signal });
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    await expect(outcomes.wait(CHALLENGE_SID, { signal: controller.signal })).rejects.toBe(reason);
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it("leaves no timer behind", async () => {
    jest.useFakeTimers();
    const outcomes = createChallengeOutcomes();
    const wait = outcomes.wait(CHALLENGE_SID);
    outcomes.prepare(event("challenge.approved"))();
    await wait;
    expect(jest.getTimerCount()).toBe(0);
  });

  it("lets no more than maxWaiting wait, and counts those who left no longer", async () => {
    const outcomes = createChallengeOutcomes({ maxWaiting: 2 });
    const waits = [outcomes.wait(sidOf(1)), outcomes.wait(sidOf(1))];
    await expect(outcomes.wait(sidOf(2))).rejects.toMatchObject({ code: "OVERLOADED" });
    outcomes.prepare(event("challenge.approved", sidOf(1)))();
    await Promise.all(waits);
    const later = outcomes.wait(sidOf(2));
    outcomes.prepare(event("challenge.approved", sidOf(2)))();
    await expect(later).resolves.toHaveProperty("challenge_sid", sidOf(2));
  });

  it("forgets the oldest outcomes over maxRemembered", async () => {
    const outcomes = createChallengeOutcomes({ maxRemembered: 2 });
    for (const index of [1, 2, 3]) outcomes.prepare(event("challenge.approved", sidOf(index)))();
    await expect(outcomes.wait(sidOf(3))).resolves.toHaveProperty("challenge_sid", sidOf(3));
    await expect(outcomes.wait(sidOf(2))).resolves.toHaveProperty("challenge_sid", sidOf(2));
    await expect(outcomes.wait(sidOf(1), { timeoutMs: 10 })).rejects.toMatchObject({
      code: "CHALLENGE_TIMEOUT",
    });
  });

  it("forgets an outcome after rememberMs", async () => {
    jest.useFakeTimers();
    const outcomes = createChallengeOutcomes({ rememberMs: 1_000 });
    outcomes.prepare(event("challenge.denied"))();
    jest.advanceTimersByTime(1_000);
    const wait = outcomes.wait(CHALLENGE_SID);
    outcomes.prepare(event("challenge.approved"))();
    await expect(wait).resolves.toHaveProperty("type", "challenge.approved");
  });

  it("rejects who waits when it closes, and who comes later", async () => {
    const outcomes = createChallengeOutcomes();
    const wait = outcomes.wait(CHALLENGE_SID);
    outcomes.close();
    await expect(wait).rejects.toMatchObject({ code: "CLOSING", status: 503 });
    await expect(outcomes.wait(CHALLENGE_SID)).rejects.toMatchObject({ code: "CLOSING" });
  });

  it.each([[undefined], [5], [""], ["YC1"], [`${CHALLENGE_SID}\n`], ["__proto__"]])(
    "refuses to wait for %j",
    async (sid) => {
      await expect(createChallengeOutcomes().wait(sid as string)).rejects.toThrow(TypeError);
    },
  );

  it.each([0, -1, 1.5, Number.NaN, "5s", 2 ** 31])("refuses timeoutMs %p", async (timeoutMs) => {
    const wait = createChallengeOutcomes().wait(CHALLENGE_SID, { timeoutMs: timeoutMs as number });
    await expect(wait).rejects.toThrow(TypeError);
  });
});
