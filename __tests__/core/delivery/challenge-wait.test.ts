import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { eventFixture } from "express-push-verification/testing";
import { createAccountScope } from "../../../lib/core/delivery/account-scope";
import { ChallengeWaits, type WaitOptions } from "../../../lib/core/delivery/challenge-wait";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { toOutcome, type FetchOutcome } from "../../../lib/core/delivery/outcome";
import { Waiters } from "../../../lib/core/delivery/waiters";
import { createGate, nextTurn } from "../../support/waiting";

const event = eventFixture("challenge.approved");
const outcome = toOutcome(event);
const good = { challengeSid: event.challenge_sid, entityIdentity: event.entity_identity };

function start(ask?: FetchOutcome) {
  const outcomes = createMemoryOutcomes();
  const settings = { authToken: "token", allowedAccountSids: undefined, publicUrls: [] };
  const scope = createAccountScope({ ...settings, name: "login" });
  const waits = new ChallengeWaits(outcomes, scope, ask);
  const wait = (options: WaitOptions) => waits.wait(options);
  return { outcomes, scope, wait, waits };
}

afterEach(() => jest.useRealTimers());

describe("ChallengeWaits", () => {
  it.each([
    ["ENTITY_MISMATCH", { entityIdentity: "ada" }],
    ["ACCOUNT_NOT_ALLOWED", { accountSid: `AC${"9".repeat(32)}` }],
  ])("rejects with %s the outcome of another than %j", async (code, other) => {
    const { outcomes, wait } = start();
    await outcomes.record("login", outcome);
    await expect(wait({ ...good, ...other })).rejects.toHaveProperty("code", code);
  });

  it("rejects its own pending and later waits in the turn in which it closes", async () => {
    const { outcomes, scope, wait, waits } = start();
    const other = new ChallengeWaits(outcomes, scope).wait(good);
    const pending = wait(good);
    waits.close();
    await expect(pending).rejects.toHaveProperty("code", "CLOSING");
    await expect(wait(good)).rejects.toHaveProperty("code", "CLOSING");
    await outcomes.record("login", outcome);
    expect(await other).toEqual(outcome);
  });

  it("lists its waits until their signal rejects them", async () => {
    const { outcomes, wait, waits } = start();
    const controller = new AbortController();
    const { signal } = controller;
    const warned = jest.fn();
    process.on("warning", warned);
    const sids = Array.from({ length: 12 }, (_, index) => `YC${String(index).padStart(32, "0")}`);
    const all = sids.map((challengeSid) => wait({ ...good, challengeSid, signal }));
    expect(waits.listPending().map(({ challengeSid }) => challengeSid)).toEqual(sids);
    const reason = new Error("stopped");
    controller.abort(reason);
    expect(await Promise.allSettled(all)).toEqual(Array(12).fill({ status: "rejected", reason }));
    await outcomes.record("login", outcome);
    await expect(wait({ ...good, signal })).rejects.toBe(reason);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(waits.listPending()).toEqual([]);
    await nextTurn();
    process.off("warning", warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it("lets at most 10 wait for a challenge: the oldest gives way", async () => {
    const { outcomes, wait } = start();
    const [oldest, ...others] = Array.from({ length: 11 }, () => wait(good));
    await expect(oldest).rejects.toMatchObject({
      code: "OVERLOADED",
      message: expect.stringContaining(" 10 waits"),
    });
    await outcomes.record("login", outcome);
    expect(await Promise.all(others)).toEqual(Array(10).fill(outcome));
  });

  it("rejects after 5 minutes by default", async () => {
    jest.useFakeTimers();
    // The service has no outcome yet.
    const { outcomes, wait, waits } = start(async () => undefined);
    const asked = jest.spyOn(outcomes, "wait");
    const rejected = jest.fn();
    void wait(good).catch(rejected);
    expect(waits.listPending()).toEqual([{ ...good, startedAtMs: Date.now() }]);
    expect(asked.mock.calls).toMatchObject([[{ authenticatedAccount: "login", ...good }]]);
    await jest.advanceTimersByTimeAsync(299_999);
    expect(rejected).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    const [[error]] = rejected.mock.calls;
    expect(error).toHaveProperty("code", "CHALLENGE_TIMEOUT");
    expect(error).not.toHaveProperty("cause");
  });

  it("leaves no timer once it is resolved", async () => {
    jest.useFakeTimers();
    const { outcomes, wait } = start(jest.fn());
    const resolved = wait(good);
    expect(jest.getTimerCount()).toBe(5);
    await outcomes.record("login", outcome);
    await resolved;
    expect(jest.getTimerCount()).toBe(0);
  });

  it("ends its questions to the service: a late answer is no outcome", async () => {
    jest.useFakeTimers();
    const gate = createGate();
    const ask = jest.fn((..._asked: Parameters<FetchOutcome>) => gate.opened.then(() => outcome));
    const { outcomes, wait } = start(ask);
    const given = { ...good, accountSid: event.account_sid };
    const ended = wait({ ...given, timeoutMs: 500 }).catch(Object);
    await jest.advanceTimersByTimeAsync(500);
    expect(await ended).toMatchObject({ code: "CHALLENGE_TIMEOUT", cause: expect.any(Error) });
    const [asked, { signal }] = ask.mock.lastCall!;
    expect([asked, signal.aborted]).toEqual([given, true]);
    gate.open();
    await nextTurn();
    const late = outcomes.wait({ ...good, authenticatedAccount: "login", timeoutMs: 1 });
    await Promise.all([
      expect(late).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT"),
      jest.advanceTimersByTimeAsync(1),
    ]);
  });

  it("adds the reason of the service to a time-out only, without its causes", async () => {
    jest.useFakeTimers();
    const cause = new Error("ada");
    const { wait, waits } = start(() => Promise.reject(new Error("down", { cause })));
    const [ended, closed] = [100, 500].map((timeoutMs) =>
      wait({ ...good, timeoutMs }).catch(Object),
    );
    await jest.advanceTimersByTimeAsync(100);
    waits.close();
    expect(await ended).toMatchObject({ code: "CHALLENGE_TIMEOUT", cause: { message: "down" } });
    expect(inspect(await ended, { depth: 5 })).not.toContain("ada");
    expect(await closed).toHaveProperty("code", "CLOSING");
    expect(await closed).not.toHaveProperty("cause");
  });

  it.each([undefined, "YC1"])("rejects the SID %j, as input of a user", async (challengeSid) => {
    const failed = start().wait({ ...good, challengeSid: challengeSid as string });
    await expect(failed).rejects.toHaveProperty("code", "CHALLENGE_SID_INVALID");
  });

  it.each([
    { challengeSid: event.challenge_sid },
    { ...good, entityIdentity: "" },
    { ...good, entityIdentity: [event.entity_identity] },
    { ...good, accountSid: "AC1" },
    { ...good, signal: {} },
    { ...good, timeout: 5 },
    ...[0, 2 ** 31].map((timeoutMs) => Object.assign({ timeoutMs }, good)),
  ])("rejects the options %j with a TypeError that shows no identity", async (options) => {
    const failed = start().wait(options as WaitOptions);
    await expect(failed).rejects.toThrow(TypeError);
    await expect(failed).rejects.not.toThrow(event.entity_identity);
  });
});

const longWait = (challengeSid: string) => ({
  timeoutMs: 60_000,
  authenticatedAccount: "a",
  challengeSid,
});
const keyOf = (challengeSid: string) => `a:${challengeSid}`;

describe("Waiters", () => {
  it("lists a key from its first wait until the last one has ended", async () => {
    const waiters = new Waiters();
    const { signal } = new AbortController();
    const both = [{ signal }, {}].map((more) => waiters.wait({ ...longWait("a"), ...more }));
    expect(waiters.listKeys()).toEqual([keyOf("a")]);
    expect(waiters.has(keyOf("a"))).toBe(true);
    expect(waiters.has(keyOf("b"))).toBe(false);
    waiters.resolve(keyOf("a"), outcome);
    expect(await Promise.all(both)).toEqual([outcome, outcome]);
    expect(waiters.listKeys()).toEqual([]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const aborted = waiters.wait({ ...longWait("a"), signal: AbortSignal.abort("stopped") });
    await expect(aborted).rejects.toBe("stopped");
    const late = waiters.wait({ ...longWait("a"), timeoutMs: 5 });
    const message: unknown = expect.stringContaining(" 5 ms");
    await expect(late).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT", message });
    expect(waiters.has(keyOf("a"))).toBe(false);
  });

  it("gives each user an equal share: 10,000 waits of one user evict no other", async () => {
    const waiters = new Waiters();
    const waitOf = (entityIdentity: string, index: number) =>
      waiters.wait({ ...longWait(`${entityIdentity} ${index}`), entityIdentity });
    const ada = waitOf("ada", 1);
    const user = { ...longWait("c"), authenticatedAccount: "b", entityIdentity: "eve" };
    const other = waiters.wait(user);
    const floods = Array.from({ length: 10_050 }, (_, index) => waitOf("eve", index >> 1));
    const flood = Promise.allSettled(floods);
    const bob = waitOf("bob", 1);
    waiters.resolve(keyOf("ada 1"), outcome);
    waiters.resolve(keyOf("bob 1"), outcome);
    waiters.resolve("b:c", outcome);
    expect(await Promise.all([ada, bob, other])).toEqual(Array(3).fill(outcome));
    waiters.close();
    await expect(waitOf("ada", 2)).rejects.toHaveProperty("code", "CLOSING");
    const codes = (await flood).map((one) => one.status === "rejected" && one.reason.code);
    expect(codes.slice(52, 54)).toEqual(["OVERLOADED", "CLOSING"]);
    expect(codes.at(-1)).toBe("CLOSING");
  });

  it("rejects the oldest above maxWaiting pending waits", async () => {
    const waiters = new Waiters(2);
    const first = waiters.wait(longWait("a"));
    for (let times = 0; times < 3; times++) {
      const ended = waiters.wait(longWait("ended"));
      waiters.resolve(keyOf("ended"), outcome);
      await ended;
    }
    expect(waiters.has(keyOf("a"))).toBe(true);
    const [second, third] = ["b", "c"].map((sid) => waiters.wait(longWait(sid)));
    await expect(first).rejects.toThrow(" 2 waits");
    for (const sid of ["b", "c"]) waiters.resolve(keyOf(sid), outcome);
    expect(await Promise.all([second, third])).toEqual([outcome, outcome]);
  });
});
