/** What a queue forgets, and when, on the clock of its store, which the tests move; run on each engine. */
import { createHandlers, type ChallengeEvent } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { STALLED } from "../../lib/durable/lease";
import { toOutcome } from "../../lib/core/delivery/outcome";
import {
  entityIdentity,
  receiveInto,
  responseOf,
  sidOf,
  storeFactor,
  untilStats,
  waitForOutcome,
} from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { shorten, until } from "../support/waiting";
import { eventRequest } from "../support/webhook-requests";

/** The pause between purges, as purge.test.ts proves it. */
const PURGE_MS = 5_000;
/** Longer than any pause of a process or a store. */
const TIMES = { attempts: 3, backoff: 20, dedupeTtlMs: 1_000_000, outcomeTtlMs: 2_000_000 };

export function describeTimes(engine: StoppableEngine): void {
  let queue: DurableQueue;
  let handled: string[];
  let isDown: boolean;

  const handlers = createHandlers().onAny(({ uuid }, { attempt }) => {
    handled.push(`${uuid} ${attempt}`);
    if (isDown) throw new Error("down");
  });
  const store = (uuid: string) => storeFactor(queue, uuid);
  const untilEmpty = () =>
    until(async () =>
      (await engine.listKept(TIMES.outcomeTtlMs)).every((kind) => kind === "member"),
    );
  const stateOf = async (uuid: string) => (await queue.find(uuid))?.state;

  beforeEach(async () => {
    handled = [];
    isDown = false;
    shorten("setTimeout", PURGE_MS);
    queue = engine.open(TIMES);
    await queue.ready();
  });

  afterEach(() => void jest.restoreAllMocks());

  async function makeDead(...uuids: string[]): Promise<void> {
    isDown = true;
    const worker = queue.work(handlers);
    for (const uuid of uuids) await store(uuid);
    await untilStats(queue, { deadLetters: uuids.length });
    await worker.close();
    isDown = false;
    handled = [];
  }

  it("uuids and outcomes end at their own times", async () => {
    const approval = responseOf("a", 1);
    expect(await queue.store(approval, Infinity)).toBe("new");
    const worker = queue.work(handlers);
    for (const [passedMs, result, hasOutcome] of [
      [960_000, "duplicate", true],
      // The second event keeps the first outcome.
      [90_000, "new", true],
      [960_000, "duplicate", false],
      [90_000, "new", true],
    ] as const) {
      await engine.passTime(passedMs);
      const found = waitForOutcome(queue, 1, hasOutcome ? 60_000 : 200);
      if (hasOutcome) {
        expect(await queue.store(approval, Infinity)).toBe(result);
        expect(await found).toHaveProperty("type", "challenge.approved");
      } else await expect(found).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    }
    await until(() => handled.length === 3);
    await worker.close();
    await engine.passTime(2_010_000);
    await untilEmpty();
  });

  // Redis ends a key by its own clock.
  if (engine.kind !== "redis") {
    it("uuids and outcomes of a clock that was a year ahead end as new ones", async () => {
      await queue.store(responseOf("a", 1), Infinity);
      const worker = queue.work(handlers);
      await until(() => handled.length === 1);
      await worker.close();
      const listKept = async () => (await engine.listKept(TIMES.outcomeTtlMs)).join();
      await engine.passTime(-400 * 86_400_000);
      await until(async () => !/lasting (uuid|outcome)/.test(await listKept()));
      await engine.passTime(1_010_000);
      await until(async () => !(await listKept()).includes("uuid"));
      expect(await waitForOutcome(queue, 1)).toHaveProperty("type", "challenge.approved");
      await engine.passTime(1_010_000);
      await untilEmpty();
    });

    it("an event in whose handlers 21 processes died is a dead letter", async () => {
      const child = await engine.startProcess(() => {}, "/dev/null", "0");
      for (const uuid of ["slow", "slow-failing"]) await store(uuid);
      await untilStats(queue, { active: 2 });
      await engine.change?.("stalls = 20", 0);
      await engine.change?.("stalls = 19", 1);
      await engine.killProcess(child);
      await engine.passLeases();
      await untilStats(queue, { deadLetters: 1, waiting: 1 });
      const failures = [{ error: STALLED }];
      expect(await queue.deadGroups()).toMatchObject(failures);
      expect(await queue.find("slow")).toMatchObject({ state: "dead", attempts: 21, failures });
      expect(await queue.find("slow-failing")).toMatchObject({ state: "waiting", attempts: 20 });
      expect(await queue.retry("slow")).toBe(true);
      expect(await queue.find("slow")).toMatchObject({ state: "waiting", attempts: 0, failures });
    });
  }

  it("a discarded event is handled when it comes again after dedupeTtlMs", async () => {
    await makeDead("a");
    await engine.passTime(500_000);
    expect(await queue.discard("a")).toBe(true);
    expect(await stateOf("a")).toBe("discarded");
    expect(await store("a")).toBe("duplicate");
    await engine.passTime(515_000);
    expect(await stateOf("a")).toBeUndefined();
    expect(await store("a")).toBe("new");
    expect(await stateOf("a")).toBe("waiting");
    const worker = queue.work(handlers);
    await until(async () => (await stateOf("a")) === "handled");
    await worker.close();
    expect(handled).toEqual(["a 1"]);
    await engine.passTime(1_015_000);
    await untilEmpty();
  });

  it("a dead letter outlives its uuid", async () => {
    await makeDead("a", "b", "c");
    await engine.passTime(1_015_000);
    await until(async () => !/uuid/.test((await engine.listKept(TIMES.outcomeTtlMs)).join()));
    expect(await stateOf("a")).toBe("dead");
    expect(await queue.discard("b")).toBe(true);
    expect(await stateOf("b")).toBeUndefined();
    expect(await store("c")).toBe("new");
    expect(await stateOf("c")).toBe("waiting");
    expect(await queue.retryAll()).toBe(2);
    const worker = queue.work(handlers);
    await until(() => handled.length === 3);
    await untilStats(queue, { active: 0 });
    await worker.close();
    expect(handled.toSorted()).toEqual(["a 1", "c 1", "c 1"]);
    await engine.passTime(1_015_000);
    await untilEmpty();
  });

  it("an outcome wakes the waits of each process without a poll", async () => {
    jest.spyOn(globalThis, "setInterval").mockImplementation(() => ({ unref() {} }) as never);
    await queue.close();
    const { push, deliver, ...one } = await receiveInto(engine.open(TIMES), {
      confirm: () => true,
    });
    const other = engine.open(TIMES);
    one.queue.work(push.onAny(() => {}).handlers);
    await untilStats(other, { workers: 1 });
    const approvalOf = (index: number) => responseOf(String(index), index);
    const outcomeOf = (index: number) => toOutcome(approvalOf(index).event as ChallengeEvent);
    const makes: ((index: number) => unknown)[] = [
      (index) => one.queue.store(approvalOf(index), Infinity),
      (index) => one.queue.outcomes.record("", outcomeOf(index)),
    ];
    for (const [first, make] of makes.entries()) {
      // Both are stored, and announced, at a time.
      const indexes = [first, first + 2];
      const waits = [one.queue, other].flatMap((by) =>
        indexes.map((index) => waitForOutcome(by, index)),
      );
      // Until their first reads have found nothing.
      for (let reads = 0; reads < 5; reads++) await Promise.all([one.queue.stats(), other.stats()]);
      await Promise.all(indexes.map(make));
      for (const { type } of await Promise.all(waits)) expect(type).toBe("challenge.approved");
    }
    const login = { challengeSid: sidOf(9), entityIdentity, timeoutMs: 60_000 };
    const waiting = push.waitForChallenge(login);
    await deliver(eventRequest("challenge.approved", { uuid: "9", challenge_sid: sidOf(9) }));
    expect(await waiting).toHaveProperty("type", "challenge.approved");
  });

  it("an event is handled without a poll", async () => {
    // None of the times at which workers look for events comes.
    jest.spyOn(globalThis, "setInterval").mockImplementation(() => ({ unref() {} }) as never);
    await queue.close();
    const app = engine.open(TIMES);
    await app.ready();
    app.work(handlers);
    await untilStats(app, { workers: 1 });
    isDown = true;
    await storeFactor(app, "own");
    await until(() => handled.length === 3);
    isDown = false;
    await storeFactor(engine.open(TIMES), "of another process");
    await until(() => handled.length === 4);
  });
}
