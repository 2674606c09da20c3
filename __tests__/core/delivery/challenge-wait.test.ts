import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { eventFixture } from "express-push-verification/testing";
import { createAccountScope } from "../../../lib/core/delivery/account-scope";
import { ChallengeWaits, type WaitOptions } from "../../../lib/core/delivery/challenge-wait";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import {
  toOutcome,
  type ChallengeOutcome,
  type FetchOutcome,
} from "../../../lib/core/delivery/outcome";
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
  const wait: typeof waits.wait = (options) => waits.wait(options);
  return {
    outcomes,
    scope,
    wait,
    listPending: () => waits.listPending(),
    close: () => waits.close(),
  };
}

afterEach(() => jest.useRealTimers());

describe("ChallengeWaits", () => {
  it("rejects the outcome of another user", async () => {
    const { outcomes, wait } = start();
    await outcomes.record("login", outcome);
    const failed = wait({ ...good, entityIdentity: "ada" });
    await expect(failed).rejects.toMatchObject({ code: "ENTITY_MISMATCH", status: 403 });
  });

  it("rejects its own pending and later waits in the turn in which it closes", async () => {
    const { outcomes, scope, wait, close } = start();
    const other = new ChallengeWaits(outcomes, scope).wait(good);
    const pending = wait(good);
    const rejected = jest.fn();
    pending.catch(rejected);
    close();
    await expect(pending).rejects.toMatchObject({ code: "CLOSING", status: 503 });
    await expect(wait(good)).rejects.toHaveProperty("code", "CLOSING");
    await outcomes.record("login", outcome);
    expect(await other).toEqual(outcome);
  });

  it("lists its waits until their signal rejects them", async () => {
    const { wait, listPending } = start();
    const controller = new AbortController();
    const { signal } = controller;
    const warned = jest.fn();
    process.on("warning", warned);
    const waits = Array.from({ length: 12 }, (_, index) =>
      wait({ ...good, challengeSid: `YC${index.toString().padStart(32, "0")}`, signal }),
    );
    expect(listPending()).toHaveLength(12);
    expect(listPending()[0]?.challengeSid).toBe(`YC${"0".repeat(32)}`);
    const reason = new Error("stopped");
    controller.abort(reason);
    expect(await Promise.allSettled(waits)).toEqual(Array(12).fill({ status: "rejected", reason }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(listPending()).toEqual([]);
    await nextTurn();
    process.off("warning", warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it("rejects a wait on an aborted signal although the outcome is known", async () => {
    const { outcomes, wait } = start();
    await outcomes.record("login", outcome);
    const reason = new Error("stopped");
    const signal = AbortSignal.abort(reason);
    await expect(wait({ ...good, signal })).rejects.toBe(reason);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("lets at most 10 wait for a challenge: the oldest gives way", async () => {
    const { outcomes, wait, listPending } = start();
    const waits = Array.from({ length: 11 }, () => wait(good));
    const settled = Promise.allSettled(waits);
    await expect(waits[0]).rejects.toHaveProperty("code", "OVERLOADED");
    await expect(waits[0]).rejects.toThrow(" 10 waits");
    expect(listPending()).toHaveLength(10);
    await outcomes.record("login", outcome);
    const [, ...rest] = await settled;
    expect(rest).toEqual(Array(10).fill({ status: "fulfilled", value: outcome }));
  });

  it("rejects after 5 minutes by default", async () => {
    jest.useFakeTimers();
    const { outcomes, wait, listPending } = start();
    const asked = jest.spyOn(outcomes, "wait");
    const rejected = jest.fn();
    void wait(good).catch(rejected);
    expect(listPending()).toEqual([{ ...good, startedAtMs: Date.now() }]);
    expect(asked.mock.calls).toMatchObject([[{ authenticatedAccount: "login", ...good }]]);
    await jest.advanceTimersByTimeAsync(299_999);
    expect(rejected).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(rejected).toHaveBeenCalledWith(expect.objectContaining({ code: "CHALLENGE_TIMEOUT" }));
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
    const ask = jest.fn<Promise<ChallengeOutcome>, Parameters<FetchOutcome>>(() =>
      gate.opened.then(() => outcome),
    );
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
    const { wait, close } = start(() => Promise.reject(new Error("down", { cause })));
    const [ended, closed] = [100, 500].map((timeoutMs) =>
      wait({ ...good, timeoutMs }).catch(Object),
    );
    await jest.advanceTimersByTimeAsync(100);
    close();
    expect(await ended).toMatchObject({ code: "CHALLENGE_TIMEOUT", cause: { message: "down" } });
    expect(inspect(await ended, { depth: 5 })).not.toContain("ada");
    expect(await closed).toHaveProperty("code", "CLOSING");
    expect(await closed).not.toHaveProperty("cause");
  });

  const WRONG_SIDS = [undefined, 5, "", "YC1", `${event.challenge_sid}\n`, "__proto__"];
  it.each(WRONG_SIDS)("rejects the SID %j with 400, as input of a user", async (challengeSid) => {
    const failed = start().wait({ ...good, challengeSid: challengeSid as string });
    await expect(failed).rejects.toMatchObject({ code: "CHALLENGE_SID_INVALID", status: 400 });
  });

  it.each([
    "YCb0977f3f759c742acc1f94257f7974b0",
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
    const both = [waiters.wait({ ...longWait("a"), signal }), waiters.wait(longWait("a"))];
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
    await expect(late).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT", status: 504 });
    await expect(late).rejects.toThrow(" 5 ms");
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
    await expect(first).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
    await expect(first).rejects.toThrow(" 2 waits");
    for (const sid of ["b", "c"]) waiters.resolve(keyOf(sid), outcome);
    expect(await Promise.all([second, third])).toEqual([outcome, outcome]);
  });
});
