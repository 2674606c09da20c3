/** The tests that every engine of the durable queue passes. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpanKind } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import {
  createHandlers,
  PermanentError,
  type HandlerContext,
  type PushEvent,
} from "express-push-verification";
import type { DurableQueue, QueueOptions, WorkOptions } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { toOutcome } from "../../lib/core/delivery/outcome";
import type { QueuedEvent } from "../../lib/core/delivery/event-queue";
import {
  closeLater,
  queuedEvent,
  receiveInto,
  responseOf,
  sidOf,
  silent,
  untilStats,
  waitForOutcome,
} from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { itNeeds } from "../support/platform";
import { startTelemetry } from "../support/telemetry";
import { collect, createGate, never, nextTurn, until } from "../support/waiting";
import { eventRequest } from "../support/webhook-requests";

const FIRST = "AC00000000000000000000000000000001";
const SECOND = "AC00000000000000000000000000000002";
const ACCOUNTS = [FIRST, SECOND];
const range = (length: number) => Array.from({ length }, (_, index) => index);
const factor = (uuid: string, overrides: Partial<QueuedEvent> = {}) =>
  queuedEvent(eventFixture("factor.created", { uuid }), overrides);
const ofAccount = (uuid: string, account: string) =>
  queuedEvent(eventFixture("factor.created", { uuid, account_sid: account }), {
    authenticatedAccount: account,
  });
const THROWN: Record<string, Error> = {
  dead: new PermanentError("no"),
  later: new Error("later"),
};
const CHANNEL = "express-push-verification:dead-lettered";

export function describeContract(engine: StoppableEngine): void {
  let queue: DurableQueue;
  let handled: ({ event: PushEvent } & HandlerContext)[];
  let fails: (event: PushEvent, attempt: number) => unknown;

  async function open(options: Partial<QueueOptions> = {}): Promise<DurableQueue> {
    const created = engine.open({ attempts: 3, backoff: 20, ...options });
    await created.ready();
    return created;
  }
  const store = (queued: QueuedEvent, by = queue) => by.store(queued, Infinity);
  const handlers = createHandlers().onUnhandled(async (any, context) => {
    const event = any as PushEvent;
    handled.push({ event, ...context });
    const failure = await fails(event, context.attempt);
    if (failure !== undefined) throw failure;
  });
  const work = (options?: WorkOptions, by = queue) =>
    by.work(handlers, { handlerTimeoutMs: 600_000, ...options });
  const untilHandled = (count: number) => until(() => handled.length >= count);
  const listHandled = () => handled.map(({ event }) => event.uuid).toSorted();
  const wait = (index: number, by = queue, timeoutMs?: number, account?: string) =>
    waitForOutcome(by, index, timeoutMs, account);
  const expectTimeout = (waiting: Promise<unknown>) =>
    expect(waiting).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  async function makeDead(...events: QueuedEvent[]): Promise<void> {
    fails = () => new PermanentError("down");
    const worker = work();
    for (const event of events) await store(event);
    await untilStats(queue, { deadLetters: events.length });
    await worker.close();
  }
  /** Asserts that the oldest event has waited since that time at the earliest. */
  async function expectWaiting(counts: object, sinceMs: number): Promise<void> {
    const { oldestWaitingMs, ...stats } = await queue.stats();
    expect(stats).toMatchObject(counts);
    expect(oldestWaitingMs).toBeLessThanOrEqual(performance.now() - sinceMs + 1);
  }

  beforeEach(async () => {
    handled = [];
    fails = () => undefined;
    queue = await open();
  });

  describe("store", () => {
    it("tells new events, duplicates and conflicts apart", async () => {
      const first = factor("a", { contentHash: "one" });
      expect(await store(first)).toBe("new");
      expect(await store(first)).toBe("duplicate");
      const rotated = { ...first, contentHash: "two" };
      expect(await store(rotated)).toBe("conflict");
      const storeWith = (...hashes: string[]) =>
        store({ ...rotated, listOtherHashes: () => hashes });
      expect(await storeWith("of a third token", first.contentHash)).toBe("duplicate");
      expect(await storeWith("of other content")).toBe("conflict");
      expect(await queue.stats()).toMatchObject({ waiting: 1 });
    });

    it("stores one of many concurrent deliveries of two processes", async () => {
      const other = await open();
      const stored = range(20).map((index) => store(factor("a"), index % 2 === 0 ? queue : other));
      const results = (await Promise.all(stored)).toSorted();
      expect(results).toEqual([...Array<string>(19).fill("duplicate"), "new"]);
    });
  });

  describe("work", () => {
    it("runs the handlers with the stored event", async () => {
      const event = eventFixture("factor.created", {
        entity_identity: "a\u0000b Zoë 🔑\r\n'\"\\&=%",
        factor_friendly_name: "__proto__",
      });
      const context = { authTokenIndex: 1, publicUrlIndex: 2, receiver: "shop" };
      work();
      await store(queuedEvent(event, context));
      await untilHandled(1);
      expect(handled).toMatchObject([{ attempt: 1, ...context }]);
      expect(handled[0]?.event).toEqual(event);
    });

    it("runs the handlers of each event once in two processes", async () => {
      const other = await open();
      const odd = ["meta", "a:b", "uuid with spaces", "\u0000", "x".repeat(256), "ü🔑"];
      const uuids = [...odd, ...range(200).map((index) => `u${index}`)];
      const stored = await Promise.all(uuids.map((uuid) => store(factor(uuid))));
      expect(new Set(stored)).toEqual(new Set(["new"]));
      for (const uuid of odd) expect(await store(factor(uuid))).toBe("duplicate");
      work();
      work({}, other);
      await untilHandled(uuids.length);
      expect(listHandled()).toEqual(uuids.toSorted());
      await untilStats(queue, { active: 0 });
    });

    it("runs handlers of concurrency events at a time", async () => {
      let running = 0;
      let most = 0;
      fails = async () => {
        most = Math.max(most, ++running);
        await until(() => most === 3);
        await nextTurn();
        running--;
      };
      work({ concurrency: 3 });
      await Promise.all(range(30).map((index) => store(factor(`u${index}`))));
      await untilHandled(30);
      expect(most).toBe(3);
    });
  });

  it("receive, store and handle are one trace", async () => {
    const telemetry = startTelemetry();
    closeLater({ close: telemetry.stop });
    const receiver = await receiveInto(queue, { name: "shop" });
    work();
    const statuses = ["a", "b"].map((uuid) =>
      receiver.deliver(eventRequest("challenge.approved", { uuid })),
    );
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    await until(() => telemetry.spans().length === 6);
    const byId = new Map(telemetry.spans().map((span) => [span.spanContext().spanId, span]));
    const parentOf = (span?: ReadableSpan) => byId.get(span?.parentSpanContext?.spanId ?? "");
    const uuidOf = (span?: ReadableSpan) => span?.attributes["messaging.message.id"];
    const handles = telemetry.spans().filter(({ kind }) => kind === SpanKind.CONSUMER);
    expect(handles.map(uuidOf).toSorted()).toEqual(["a", "b"]);
    for (const handle of handles) {
      const stored = parentOf(handle);
      const kinds = [stored?.kind, parentOf(stored)?.kind];
      expect(kinds).toEqual([SpanKind.PRODUCER, SpanKind.SERVER]);
      expect(uuidOf(stored)).toBe(uuidOf(handle));
      expect(stored?.attributes).toHaveProperty(["push_webhooks.receiver"], "shop");
    }
  });

  describe("dead letters", () => {
    it("makes an event that exhausted its attempts one", async () => {
      fails = () => new Error("never");
      const [error, published] = [jest.fn(), jest.fn()];
      subscribe(CHANNEL, published);
      work({}, await open({ logger: { ...silent, error } }));
      await store(factor("dead", { receiver: "shop" }));
      await untilStats(queue, { deadLetters: 1 });
      const event = handled[0]!.event;
      const of = { uuid: "dead", receiver: "shop" };
      const failedAt = expect.any(Date) as Date;
      const failed = { attempts: 3, error: "HANDLER_FAILED: never", failedAt };
      expect(await collect(queue.deadLetters())).toEqual([
        { ...of, accountSid: event.account_sid, event, ...failed },
      ]);
      const about = { queue: expect.any(String) as unknown, ...of };
      await until(() => error.mock.calls.length === 4);
      const line = (fields: object) => [{ ...about, ...fields }, expect.any(String) as string];
      const failures = [1, 2, 3].map((attempt) => line({ attempt, code: "HANDLER_FAILED" }));
      expect(error.mock.calls).toMatchObject([...failures, line({ attempts: 3 })]);
      unsubscribe(CHANNEL, published);
      expect(published.mock.calls).toEqual([[{ type: "factor.created", attempts: 3 }, CHANNEL]]);
      const logged = JSON.stringify(error.mock.calls);
      for (const secret of [event.entity_identity, event.factor_sid]) {
        expect(logged).not.toContain(secret);
      }
    });

    it("makes an event one whose handlers run longer than handlerTimeoutMs", async () => {
      const onError = jest.fn();
      fails = never;
      work({ onError, handlerTimeoutMs: 30 });
      await store(factor("a"));
      await untilStats(queue, { deadLetters: 1 });
      const error = expect.stringContaining("HANDLER_TIMEOUT: ") as string;
      expect(await collect(queue.deadLetters())).toMatchObject([{ attempts: 3, error }]);
      const report = [{ code: "HANDLER_TIMEOUT" }, { uuid: "a" }];
      expect(onError.mock.calls).toMatchObject(Array(3).fill(report));
    });

    it("runs the handlers of one or of all again", async () => {
      await makeDead(factor("a"), factor("b"), factor("c"));
      handled = [];
      fails = (_event, attempt) => (attempt < 3 ? new Error("again") : undefined);
      const retried = [await queue.retry("b"), await queue.retry("b"), await queue.retry("x")];
      expect(retried).toEqual([true, false, false]);
      expect(await queue.find("b")).toMatchObject({ state: "waiting", attempts: 0 });
      work();
      await untilHandled(3);
      expect(handled.map(({ event, attempt }) => [event.uuid, attempt])).toEqual(
        [1, 2, 3].map((attempt) => ["b", attempt]),
      );
      expect(await queue.retryAll()).toBe(2);
      await untilHandled(9);
      expect(await collect(queue.deadLetters())).toEqual([]);
    });

    it("counts each once when several processes retry them at a time", async () => {
      await makeDead(...range(20).map((index) => factor(`u${index}`)));
      const other = await open();
      const startMs = performance.now();
      const counts = await Promise.all([queue.retryAll(), other.retryAll(), queue.retryAll()]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(20);
      await expectWaiting({ waiting: 20, deadLetters: 0 }, startMs);
    });

    it("discards one once for two processes at a time", async () => {
      await makeDead(factor("poison"));
      const other = await open();
      const both = await Promise.all([queue.discard("poison"), other.discard("poison")]);
      expect(both.toSorted()).toEqual([false, true]);
      expect(await queue.find("poison")).toMatchObject({ state: "discarded" });
      expect(await collect(queue.deadLetters())).toEqual([]);
      expect(await store(factor("poison"))).toBe("duplicate");
      expect(await queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 0 });
    });

    it("tells those of one uuid apart by accountSid or receiver", async () => {
      const claiming = {
        ...ofAccount("b", FIRST),
        authenticatedAccount: SECOND,
        receiver: "other",
      };
      const ofB = [ofAccount("b", FIRST), claiming];
      await makeDead(ofAccount("a", FIRST), ofAccount("a", SECOND), ...ofB);
      for (const method of ["retry", "discard"] as const) {
        await expect(queue[method]("a")).rejects.toThrow(/accountSid/);
        expect(await queue[method]("a", { accountSid: "AC3" })).toBe(false);
        // Both events claim the same account.
        await expect(queue[method]("b", { accountSid: FIRST })).rejects.toThrow(TypeError);
      }
      expect(await queue.retry("a", { accountSid: SECOND })).toBe(true);
      expect(await queue.discard("a", { accountSid: SECOND })).toBe(false);
      expect(await queue.discard("a")).toBe(true);
      // The uuid of a discarded event stays taken, in its own account.
      expect(await store(ofAccount("a", FIRST))).toBe("duplicate");
      expect(await queue.retry("b", { accountSid: FIRST, receiver: "other" })).toBe(true);
      expect(await queue.retry("b", { accountSid: FIRST })).toBe(true);
      expect(await queue.stats()).toMatchObject({ waiting: 3, deadLetters: 0 });
    });

    /** 230 dead letters of two errors and three users, of each a half and a third. */
    async function makeGroups(): Promise<void> {
      const identityOf = (index: number) => `user number ${index % 3}`;
      const messageOf = (event: PushEvent) =>
        Number(event.uuid) % 2 === 0 ? `no ${event.entity_identity}` : "ödd";
      // A user is counted by a name that needs the secret of the store.
      await queue.journal?.createPseudonym("ada");
      fails = (event) => new PermanentError(messageOf(event));
      const worker = work();
      for (const index of range(230)) {
        const account_sid = ACCOUNTS[(index >> 1) % 2]!;
        const names = { uuid: String(index), account_sid, entity_identity: identityOf(index) };
        await store(queuedEvent(eventFixture("factor.created", names)));
      }
      await untilStats(queue, { deadLetters: 230 });
      await worker.close();
    }

    it("lists all that match a filter in its order", async () => {
      await makeGroups();
      const odd = { error: "HANDLER_FAILED: ödd" };
      for (const [filter, count] of [
        [{}, 230],
        [{ newestFirst: true }, 230],
        [odd, 115],
        [{ ...odd, newestFirst: true }, 115],
        [{ error: "HANDLER_FAILED: none" }, 0],
      ] as const) {
        const listed = await collect(queue.deadLetters(filter));
        expect(new Set(listed.map(({ uuid }) => uuid)).size).toBe(count);
        if ("error" in filter) for (const one of listed) expect(one.error).toBe(filter.error);
        const times = listed.map(({ failedAt }) => Number(failedAt));
        const sorted = times.toSorted((a, b) => a - b);
        expect(times).toEqual("newestFirst" in filter ? sorted.toReversed() : sorted);
      }
      let left = 230;
      for await (const { uuid } of queue.deadLetters({ newestFirst: true }))
        left -= Number(await queue.discard(uuid));
      expect(left).toBe(0);
    });

    it("groups all by their error without the values of the events", async () => {
      await makeGroups();
      expect(await queue.discard("1")).toBe(true);
      const ofUsers = (await queue.deadGroups())[0]!;
      const oldest = await collect(queue.deadLetters({ error: ofUsers.error }));
      const times = oldest.map(({ failedAt }) => Number(failedAt));
      expect(ofUsers).toEqual({
        error: "HANDLER_FAILED: no <entity_identity>",
        count: 115,
        users: 6,
        firstAtMs: times[0],
        lastAtMs: times.at(-1),
      });
      const odd = { error: "HANDLER_FAILED: ödd", users: 6 };
      expect((await queue.deadGroups()).slice(1)).toMatchObject([{ ...odd, count: 114 }]);
      expect(await queue.retryAll()).toBe(229);
      expect(await queue.deadGroups()).toEqual([]);
    });
  });

  it("sorts the 50 largest groups by size, then by time", async () => {
    fails = (event) => new PermanentError("x".repeat(1 + (Number(event.uuid) % 51)));
    // Users are counted without a journal, too.
    work({}, await open({ journal: false }));
    for (const index of range(52)) await store(factor(String(index)));
    await untilStats(queue, { deadLetters: 52 });
    const groups = await queue.deadGroups();
    expect(groups.map(({ count }) => count)).toEqual([2, ...Array<number>(49).fill(1)]);
    expect(groups[0]).toHaveProperty("users", 1);
    const times = groups.slice(1).map(({ lastAtMs }) => lastAtMs);
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });

  describe("find", () => {
    it("follows an event until it is handled", async () => {
      expect(await queue.find("a")).toBeUndefined();
      const queued = factor("a", { receiver: "shop" });
      await store(queued);
      const { event, accountSid, receiver } = queued;
      const named = { accountSid, receiver, event };
      const waiting = { state: "waiting", ...named, attempts: 0, failures: [] };
      expect(await queue.find("a")).toEqual({ ...waiting, at: expect.any(Date) as Date });
      const gate = createGate();
      fails = () => gate.opened;
      const worker = work();
      await untilHandled(1);
      expect(await queue.find("a")).toMatchObject({ state: "active", ...named, attempts: 1 });
      gate.open();
      await untilStats(queue, { active: 0 });
      expect(await queue.find("a")).toEqual({ state: "handled", attempts: 0, failures: [] });
      await worker.close();
    });

    it("tells the last 10 failed attempts across a retry", async () => {
      const patient = await open({ attempts: 6, backoff: 1 });
      fails = (_event, attempt) => new Error(`attempt ${attempt} ${"ü".repeat(2_000)}`);
      const startMs = Date.now();
      work({}, patient);
      await store(factor("a"), patient);
      for (const listed of [range(6), range(12).slice(2)]) {
        await untilStats(queue, { deadLetters: 1 });
        const { failures, at: failedAt, ...found } = (await queue.find("a"))!;
        expect(found).toMatchObject({ state: "dead", attempts: 6 });
        expect(failures).toMatchObject(
          listed.map((index) => ({
            error: expect.stringMatching(`^HANDLER_FAILED: attempt ${(index % 6) + 1} ü+…$`),
            durationMs: expect.any(Number) as number,
            process: expect.stringMatching(`^${process.pid} on `) as string,
          })),
        );
        for (const { error } of failures) expect(error).toHaveLength(1_001);
        const times = [startMs, ...failures.map(({ at }) => at.getTime()), Date.now()];
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        const error = failures.at(-1)?.error;
        expect(await collect(queue.deadLetters())).toMatchObject([{ error, failedAt }]);
        expect(await queue.retry("a")).toBe(true);
      }
    });

    it("rejects a uuid of several accounts with a TypeError unless accountSid is given", async () => {
      for (const account of ACCOUNTS) await store(ofAccount("a", account));
      await expect(queue.find("a")).rejects.toThrow(TypeError);
      for (const accountSid of ACCOUNTS) {
        const found = await queue.find("a", { accountSid });
        expect(found).toMatchObject({ state: "waiting", accountSid });
      }
      expect(await queue.find("a", { accountSid: "AC3" })).toBeUndefined();
    });
  });

  describe("outcomes", () => {
    it("resolves waits of other processes, however they race with the store", async () => {
      const other = await open();
      const outcomes = range(100).map(async (index) => {
        const stored = store(responseOf(`u${index}`, index));
        if (index % 3 === 0) await stored;
        const { challenge_sid } = await wait(index, other);
        await stored;
        return challenge_sid;
      });
      expect(await Promise.all(outcomes)).toEqual(range(100).map(sidOf));
    });

    it("has those of each account", async () => {
      const waiting = expectTimeout(wait(1, queue, 200, FIRST));
      await store({ ...responseOf("a", 1), authenticatedAccount: SECOND });
      await waiting;
      await store({ ...responseOf("a", 1), authenticatedAccount: FIRST });
      for (const account of ACCOUNTS) expect(await wait(1, queue, 60_000, account)).toBeDefined();
    });

    it("keeps the first outcome of a challenge", async () => {
      await store(responseOf("a", 1));
      await store(responseOf("b", 1, "denied"));
      const event = eventFixture("challenge.denied", { challenge_sid: sidOf(1) });
      await queue.outcomes.record("", toOutcome(event));
      expect(await wait(1)).toHaveProperty("type", "challenge.approved");
      // The service said so, and its webhook request comes late.
      const told = eventFixture("challenge.denied", { challenge_sid: sidOf(2) });
      await queue.outcomes.record("", { ...toOutcome(told), source: "service" });
      await store(responseOf("c", 2));
      expect(await wait(2)).toMatchObject({ type: "challenge.denied", source: "service" });
    });

    it("has none of a conflict", async () => {
      await store(responseOf("a", 1));
      expect(await store({ ...responseOf("a", 2), contentHash: "other" })).toBe("conflict");
      await expectTimeout(wait(2, queue, 200));
    });
  });

  describe("stats", () => {
    const untilOldest = (ms: number) =>
      until(async () => (await queue.stats()).oldestWaitingMs >= ms);

    it("counts events by their state", async () => {
      const slow = await open({ backoff: 60_000 });
      const startMs = Date.now();
      const gate = createGate();
      fails = ({ uuid }) => THROWN[uuid] ?? gate.opened;
      work({ concurrency: 3 }, slow);
      for (const uuid of ["dead", "later", "slow"]) await store(factor(uuid), slow);
      await untilHandled(3);
      await untilStats(queue, { waiting: 0, active: 1, delayed: 1, deadLetters: 1 });
      const { at, ...found } = (await queue.find("later"))!;
      const failures = [{ error: "HANDLER_FAILED: later" }];
      expect(found).toMatchObject({ state: "delayed", attempts: 1, failures });
      expect(Number(at) - startMs).toBeGreaterThan(59_000);
      expect(Number(at) - Date.now()).toBeLessThan(61_000);
      gate.open();
      await untilStats(queue, { active: 0 });
    });

    it("tells how long the oldest waiting event has waited", async () => {
      const startMs = performance.now();
      expect(await queue.stats()).toMatchObject({ waiting: 0, oldestWaitingMs: 0 });
      await store(factor("a"));
      await untilOldest(100);
      await store(factor("b"));
      expect((await queue.stats()).oldestWaitingMs).toBeGreaterThanOrEqual(100);
      await expectWaiting({ waiting: 2 }, startMs);
    });

    it("counts an event whose pause is over as waiting since then", async () => {
      const { opened, open: finish } = createGate();
      fails = ({ uuid }) => (uuid === "a" ? new Error("no") : opened);
      const startMs = performance.now();
      const worker = work({ concurrency: 1 }, await open({ backoff: 600_000 }));
      await store(factor("a"));
      await untilStats(queue, { delayed: 1 });
      await store(factor("b"));
      await untilStats(queue, { active: 1 });
      await engine.passTime(900_000);
      await expectWaiting({ waiting: 1, active: 1, delayed: 0 }, startMs - 300_000);
      expect(await queue.find("a")).toHaveProperty("state", "waiting");
      expect((await queue.stats()).oldestWaitingMs).toBeGreaterThanOrEqual(300_000);
      const closed = worker.close();
      finish();
      await closed;
      await expectWaiting({ waiting: 1, active: 0, delayed: 0 }, startMs - 300_000);
    });
  });

  describe("other processes", () => {
    let folder: string;
    let log: string;
    const readLog = () => readFileSync(log, "utf8").split("\n").slice(0, -1);
    const idle = { waiting: 0, active: 0, delayed: 0 };
    let messages: string[];

    const start = (lanes: number) =>
      engine.startProcess((message) => void messages.push(message), log, String(lanes));

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "push-contract-"));
      log = join(folder, "log");
    });
    beforeEach(() => {
      messages = [];
      writeFileSync(log, "");
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("lose no event that they stored when they are killed", async () => {
      const running = [await start(4), await start(4)];
      for (const kill of [0, 1, 2]) {
        const before = messages.length;
        await until(() => messages.length > before + 20);
        await engine.killProcess(running[kill % 2]!);
        running[kill % 2] = await start(4);
      }
      for (const child of running) await engine.killProcess(child);
      await engine.passLeases();
      work();
      await untilStats(queue, idle);
      const done = new Set([...readLog(), ...listHandled(), "ready"]);
      expect(messages.filter((uuid) => !done.has(uuid))).toEqual([]);
    });

    itNeeds("signals")("that hang lose their events to others", async () => {
      const child = await start(0);
      const uuids = ["slow", "slow-failing"];
      for (const uuid of uuids) await store(factor(uuid));
      await until(() => uuids.every((uuid) => messages.includes(`began ${uuid}`)));
      await untilStats(queue, { workers: 1 });

      child.kill("SIGSTOP");
      await engine.passLeases();
      const gate = createGate();
      fails = ({ uuid }) => (uuids.includes(uuid) ? gate.opened : undefined);
      work();
      await until(() => handled.length === 2);
      expect(handled.map(({ attempt }) => attempt)).toEqual([2, 2]);
      await untilStats(queue, { workers: 1 });

      child.kill("SIGCONT");
      await untilStats(queue, { workers: 2 });
      child.send("finish");
      await until(() => readLog().length === 2);
      // Its reports on these events have arrived when it handles others.
      let count = 0;
      for (; readLog().length === 2; count++) await store(factor(`u${count}`));
      await untilStats(queue, { ...idle, active: 2 });
      gate.open();
      await untilStats(queue, { active: 0 });
      for (; count < 20; count++) await store(factor(`u${count}`));
      await untilStats(queue, idle);
      expect(handled.length + readLog().length).toBe(4 + count);
      expect(await queue.stats()).toMatchObject({ deadLetters: 0, workers: 2 });
    });
  });
}
