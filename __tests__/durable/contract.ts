/** The tests that every engine of the durable queue passes. */
import type { DeadLetterOptions, QueuedEvent } from "../../lib/delivery/event-queue";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpanKind, trace } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import {
  createHandlers,
  PermanentError,
  pushWebhooks,
  type PushEvent,
  type WebhookErrorCode,
} from "express-push-verification";
import type { DurableQueue, QueueOptions, WorkOptions } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import {
  closeLater,
  queuedEvent,
  receiveInto,
  sidOf,
  silent,
  untilStats,
} from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { HOSTILE_VALUES } from "../support/thrown-values";
import { collect, createGate, until } from "../support/waiting";
import { startTelemetry } from "../support/telemetry";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const ACCOUNTS = ["AC00000000000000000000000000000001", "AC00000000000000000000000000000002"];
const factor = (uuid: string, overrides: Partial<QueuedEvent> = {}) =>
  queuedEvent(eventFixture("factor.created", { uuid }), overrides);
const challenge = (uuid: string, index: number, type = "challenge.approved" as const) =>
  queuedEvent(eventFixture(type, { uuid, challenge_sid: sidOf(index) }));
const ofAccount = (uuid: string, account = "") =>
  queuedEvent(eventFixture("factor.created", { uuid, account_sid: account }), { account });
/** What the handlers of two events throw. */
const THROWN: Record<string, Error> = {
  dead: new PermanentError("no"),
  later: new Error("later"),
};
const codeOf = (code: WebhookErrorCode) => expect.objectContaining({ code }) as unknown;

/** Describes the behaviour that the engines have in common. */
export function describeContract(engine: StoppableEngine): void {
  let queue: DurableQueue;
  let handled: { event: PushEvent; attempt: number }[];
  let fails: (event: PushEvent, attempt: number) => unknown;

  async function open(options: Partial<QueueOptions> = {}): Promise<DurableQueue> {
    const created = engine.open({ attempts: 3, backoff: 20, ...options });
    await created.ready();
    return created;
  }
  const store = (queued: QueuedEvent, by = queue) => by.store(queued, Infinity);
  const handlers = createHandlers().onUnhandled(async (any, { attempt }) => {
    const event = any as PushEvent;
    handled.push({ event, attempt });
    const failure = await fails(event, attempt);
    if (failure !== undefined) throw failure;
  });
  const work = (options?: WorkOptions, by = queue) => by.work(handlers, options);
  const wait = (index: number, by = queue, timeoutMs = 5_000) =>
    by.outcomes.wait({ account: "", challengeSid: sidOf(index), timeoutMs });
  async function makeDead(...events: QueuedEvent[]): Promise<void> {
    fails = () => new PermanentError("down");
    const worker = work();
    for (const event of events) await store(event);
    await untilStats(queue, { deadLetters: events.length });
    await worker.close();
  }

  beforeEach(async () => {
    handled = [];
    fails = () => undefined;
    queue = await open();
  });

  describe("store", () => {
    it("stores an event once, and tells a duplicate from a conflict", async () => {
      const first = factor("a", { contentHash: "one" });
      expect(await store(first)).toBe("new");
      expect(await store(first)).toBe("duplicate");
      expect(await store({ ...first, contentHash: "two" })).toBe("conflict");
      expect(await queue.stats()).toMatchObject({ waiting: 1 });
    });

    it("takes a delivery that another token of the account signed for a duplicate", async () => {
      const first = factor("a", { contentHash: "signed with the first token" });
      expect(await store(first)).toBe("new");
      const rotated = { ...first, contentHash: "signed with the second token" };
      const storeWith = (...hashes: string[]) =>
        store({ ...rotated, listOtherHashes: () => hashes });
      expect(await storeWith("signed with a third token", first.contentHash)).toBe("duplicate");
      expect(await storeWith("of other content")).toBe("conflict");
    });

    it("stores one of many concurrent deliveries, of two processes", async () => {
      const other = await open();
      const stored = Array.from({ length: 20 }, (_, index) =>
        store(factor("a"), index % 2 === 0 ? queue : other),
      );
      const results = await Promise.all(stored);
      expect(results.toSorted()).toEqual([...Array<string>(19).fill("duplicate"), "new"]);
    });

    it("forgets a uuid after dedupeTtlMs, and not when it was handled", async () => {
      const short = await open({ dedupeTtlMs: 1_000 });
      work();
      expect(await store(factor("a"), short)).toBe("new");
      await until(() => handled.length === 1);
      expect(await store(factor("a"), short)).toBe("duplicate");
      await until(async () => (await store(factor("a"), short)) === "new");
      await until(() => handled.length === 2);
    });

    it.each(["meta", "a:b", "uuid with spaces", "\u0000", "x".repeat(256), "ü\ud800"])(
      "takes any uuid: %j",
      async (uuid) => {
        expect(await store(factor(uuid))).toBe("new");
        expect(await store(factor(uuid))).toBe("duplicate");
        work();
        await until(() => handled.length === 1);
        await untilStats(queue, { active: 0 });
      },
    );
  });

  describe("work", () => {
    it("runs the handlers with the stored event", async () => {
      const event = eventFixture("factor.created", {
        entity_identity: "a\u0000b\ud800 Zoë 🔑\r\n'\"\\&=%",
        factor_friendly_name: "__proto__",
      });
      const contexts: unknown[] = [];
      queue.work(createHandlers().onUnhandled((_event, context) => contexts.push(context)));
      work();
      await store(queuedEvent(event, { authTokenIndex: 1, publicUrlIndex: 2, receiver: "shop" }));
      await until(() => contexts.length + handled.length === 1);
      for (const context of contexts) {
        const expected = { attempt: 1, authTokenIndex: 1, publicUrlIndex: 2, receiver: "shop" };
        expect(context).toMatchObject(expected);
      }
      for (const one of handled) expect(one.event).toEqual(event);
    });

    it("runs the handlers of each event once, in two processes", async () => {
      const other = await open();
      work();
      work({}, other);
      const uuids = Array.from({ length: 200 }, (_, index) => `u${index}`);
      await Promise.all(uuids.map((uuid) => store(factor(uuid))));
      await until(() => handled.length >= 200);
      const found = handled.map(({ event }) => event.uuid);
      expect(found.toSorted()).toEqual(uuids.toSorted());
    });

    it("runs handlers of concurrency events at a time", async () => {
      let running = 0;
      let most = 0;
      fails = async () => {
        most = Math.max(most, ++running);
        await until(() => most === 3);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      };
      work({ concurrency: 3 });
      await Promise.all(Array.from({ length: 30 }, (_, index) => store(factor(`u${index}`))));
      await until(() => handled.length === 30);
      expect(most).toBe(3);
    });

    it("rejects handlers that are no handlers, and unknown options", async () => {
      const receiver = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
      for (const wrong of [createHandlers(), { ...handlers }, receiver, undefined]) {
        expect(() => queue.work(wrong as never)).toThrow(TypeError);
      }
      expect(() => queue.work(handlers, { concurrency: 0 })).toThrow(TypeError);
      // No worker was started: an event stays stored.
      await store(factor("kept"));
      expect(await queue.stats()).toMatchObject({ waiting: 1, workers: 0 });
    });

    it("publishes what becomes of an event, without personal data", async () => {
      const published: [name: string, message: unknown][] = [];
      const names = ["handled", "unhandled", "failed", "dead-lettered"];
      const channels = names.map((name) => `express-push-verification:${name}`);
      const record = (message: unknown, name: string | symbol) =>
        void published.push([String(name).replace(/.*:/, ""), message]);
      for (const name of channels) subscribe(name, record);
      const some = createHandlers()
        .onAny(({ uuid }) => {
          if (uuid === "bad") throw new PermanentError("no");
        })
        .on("factor.verified", () => {});
      queue.work(some, { onError: () => {} });
      await store(factor("bad"));
      await store(factor("other"));
      await store(queuedEvent(eventFixture("factor.verified")));
      await until(() => published.length === 4);
      for (const name of channels) unsubscribe(name, record);
      const type = "factor.created";
      const run = { attempt: 1, durationMs: expect.any(Number) as unknown };
      expect(Object.fromEntries(published)).toEqual({
        "dead-lettered": { type, attempts: 1 },
        failed: { type, ...run, code: "HANDLER_FAILED" },
        handled: { type: "factor.verified", ...run },
        unhandled: { type },
      });
    });
  });

  it("receive, store and handle are one trace", async () => {
    const telemetry = startTelemetry();
    closeLater({ close: telemetry.stop });
    const receiver = await receiveInto(queue);
    const names: string[] = [];
    fails = () => {
      const span = trace.getActiveSpan() as unknown as ReadableSpan;
      names.push(span.name);
    };
    work();
    const statuses = ["a", "b"].map((uuid) =>
      receiver.deliver(eventRequest("challenge.approved", { uuid })),
    );
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    await until(() => telemetry.spans().length === 6);
    const byId = new Map(telemetry.spans().map((span) => [span.spanContext().spanId, span]));
    const handles = telemetry.spans().filter(({ kind }) => kind === SpanKind.CONSUMER);
    for (const handle of handles) {
      const stored = byId.get(handle.parentSpanContext?.spanId ?? "");
      const received = byId.get(stored?.parentSpanContext?.spanId ?? "");
      expect([stored?.kind, received?.kind]).toEqual([SpanKind.PRODUCER, SpanKind.SERVER]);
      const uuid = handle.attributes["messaging.message.id"];
      expect(stored?.attributes["messaging.message.id"]).toBe(uuid);
      const traceIds = [handle, stored, received].map((span) => span?.spanContext().traceId);
      expect(new Set(traceIds).size).toBe(1);
    }
    const uuids = handles.map(({ attributes }) => attributes["messaging.message.id"]);
    expect(uuids.toSorted()).toEqual(["a", "b"]);
    expect(names).toEqual(handles.map(({ name }) => name));
    const metrics = await telemetry.readMetrics();
    expect(metrics["messaging.client.sent.messages"]).toMatchObject([{ value: 2 }]);
    expect(metrics["messaging.client.consumed.messages"]).toMatchObject([{ value: 2 }]);
  });

  describe("dead letters", () => {
    it("makes an event that exhausted its attempts one, and logs each of them", async () => {
      fails = () => new Error("never");
      const error = jest.fn();
      work({}, await open({ logger: { ...silent, error } }));
      await store(factor("dead", { receiver: "shop" }));
      await untilStats(queue, { deadLetters: 1 });
      const deadLetters = await collect(queue.deadLetters());
      const event = handled[0]!.event;
      expect(deadLetters).toEqual([
        {
          uuid: "dead",
          accountSid: event.account_sid,
          receiver: "shop",
          event,
          error: "HANDLER_FAILED: never",
          attempts: 3,
          failedAt: expect.any(Date) as Date,
        },
      ]);
      const about = { queue: expect.any(String) as unknown, receiver: "shop", uuid: "dead" };
      await until(() => error.mock.calls.length === 4);
      expect(error.mock.calls.map(([fields]: unknown[]) => fields)).toMatchObject([
        { ...about, attempt: 1, code: "HANDLER_FAILED" },
        { ...about, attempt: 2 },
        { ...about, attempt: 3 },
        { ...about, attempts: 3 },
      ]);
      const logged = JSON.stringify(error.mock.calls);
      for (const secret of [event.entity_identity, event.factor_sid]) {
        expect(logged).not.toContain(secret);
      }
    });

    it("makes an event one at once when one of several handlers throws a PermanentError", async () => {
      const onError = jest.fn();
      const failing = createHandlers()
        .on("factor.created", () => Promise.reject(new Error("for now")))
        .on("factor.created", () => Promise.reject("a text"))
        .on("factor.created", () => Promise.reject(new PermanentError("for good")));
      queue.work(failing, { onError });
      await store(factor("a"));
      await untilStats(queue, { deadLetters: 1 });
      const error = "HANDLER_FAILED: for now; for good";
      expect(await collect(queue.deadLetters())).toMatchObject([{ attempts: 1, error }]);
      expect(onError.mock.calls).toMatchObject([[{ code: "HANDLER_FAILED" }, { uuid: "a" }]]);
    });

    it("makes an event one whatever its handlers throw", async () => {
      const failing = createHandlers().on("factor.created", ({ uuid }) => {
        throw HOSTILE_VALUES[Number(uuid)]?.[1];
      });
      const once = await open({ attempts: 1 });
      once.work(failing);
      for (const index of HOSTILE_VALUES.keys()) await store(factor(String(index)), once);
      await untilStats(once, { deadLetters: HOSTILE_VALUES.length });
      const errors = (await collect(once.deadLetters())).map(({ uuid, error }) => [uuid, error]);
      const unread = "A handler of this event failed; see the cause.";
      expect(errors.toSorted()).toEqual(
        HOSTILE_VALUES.map(([, , message], index) => [
          String(index),
          `HANDLER_FAILED: ${message ?? unread}`,
        ]),
      );
    });

    it("aborts and fails handlers that run longer than handlerTimeoutMs", async () => {
      let signal: AbortSignal | undefined;
      const hanging = createHandlers().on("factor.created", (_event, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      });
      const once = await open({ attempts: 1 });
      once.work(hanging, { handlerTimeoutMs: 30 });
      await store(factor("slow"), once);
      await untilStats(queue, { deadLetters: 1 });
      const [deadLetter] = await collect(queue.deadLetters());
      expect([deadLetter?.error.split(":")[0], signal?.aborted]).toEqual(["HANDLER_TIMEOUT", true]);
    });

    it("runs the handlers of one or of all again, with all attempts", async () => {
      await makeDead(factor("a"), factor("b"), factor("c"));
      handled = [];
      fails = (_event, attempt) => (attempt < 3 ? new Error("again") : undefined);
      const retried = [await queue.retry("b"), await queue.retry("b"), await queue.retry("x")];
      expect(retried).toEqual([true, false, false]);
      expect(await queue.find("b")).toMatchObject({ state: "waiting", attempts: 0 });
      work();
      await until(() => handled.length === 3);
      expect(handled.map(({ event, attempt }) => [event.uuid, attempt])).toEqual([
        ["b", 1],
        ["b", 2],
        ["b", 3],
      ]);
      expect(await queue.retryAll()).toBe(2);
      await until(() => handled.length === 9);
      expect(await collect(queue.deadLetters())).toEqual([]);
    });

    it("counts each once when several processes retry them at a time", async () => {
      await makeDead(...Array.from({ length: 20 }, (_, index) => factor(`u${index}`)));
      const other = await open();
      const counts = await Promise.all([queue.retryAll(), other.retryAll(), queue.retryAll()]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(20);
      expect(await queue.stats()).toMatchObject({ waiting: 20, deadLetters: 0 });
    });

    it("discards one once, also for two processes at a time, and keeps its uuid", async () => {
      await makeDead(factor("poison"));
      const other = await open();
      const both = await Promise.all([queue.discard("poison"), other.discard("poison")]);
      expect(both.toSorted()).toEqual([false, true]);
      expect(await queue.find("poison")).toMatchObject({ state: "discarded" });
      expect(await collect(queue.deadLetters())).toEqual([]);
      expect(await store(factor("poison"))).toBe("duplicate");
      expect(await queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 0 });
    });

    it("compares the authenticated accounts, not those that the events claim", async () => {
      const [first = "", second = ""] = ACCOUNTS;
      const claiming = { ...ofAccount("a", first), account: second, receiver: "other" };
      await makeDead(ofAccount("a", first), claiming);
      await expect(queue.retry("a", { accountSid: first })).rejects.toThrow(TypeError);
      const chosen = { accountSid: first, receiver: "other" };
      expect(await queue.retry("a", chosen)).toBe(true);
      expect(await queue.retry("a", { accountSid: first })).toBe(true);
    });

    it("has those of each account, which accountSid tells apart", async () => {
      const [first = "", second = ""] = ACCOUNTS;
      await makeDead(ofAccount("a", first), ofAccount("a", second));
      for (const method of ["retry", "discard"] as const) {
        await expect(queue[method]("a")).rejects.toThrow(/accountSid/);
        expect(await queue[method]("a", { accountSid: "AC3" })).toBe(false);
      }
      expect(await queue.retry("a", { accountSid: second })).toBe(true);
      expect(await queue.discard("a", { accountSid: second })).toBe(false);
      expect(await queue.discard("a")).toBe(true);
      expect(await queue.stats()).toMatchObject({ waiting: 1, deadLetters: 0 });
      // The uuid of a discarded event stays taken, in its own account.
      expect(await store(ofAccount("a", first))).toBe("duplicate");
    });

    it("lists more than a page, the oldest failure first", async () => {
      const uuids = Array.from({ length: 230 }, (_, index) => `u${index}`);
      await makeDead(...uuids.map((uuid) => factor(uuid)));
      const deadLetters = await collect(queue.deadLetters());
      expect(deadLetters.map(({ uuid }) => uuid).toSorted()).toEqual(uuids.toSorted());
      const times = deadLetters.map(({ failedAt }) => Number(failedAt));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    });
  });

  describe("find", () => {
    const find = (uuid: string, options?: DeadLetterOptions) => queue.find(uuid, options);

    it("follows an event until it is handled", async () => {
      expect(await find("a")).toBeUndefined();
      await store(factor("a", { receiver: "shop" }));
      const event = eventFixture("factor.created", { uuid: "a" });
      const named = { accountSid: event.account_sid, receiver: "shop", event };
      const waiting = { state: "waiting", ...named, attempts: 0, failures: [] };
      expect(await find("a")).toEqual({ ...waiting, at: expect.any(Date) as Date });
      const gate = createGate();
      fails = () => gate.opened;
      const worker = work();
      await until(() => handled.length === 1);
      expect(await find("a")).toMatchObject({ state: "active", ...named, attempts: 1 });
      gate.open();
      await untilStats(queue, { active: 0 });
      expect(await find("a")).toEqual({ state: "handled", attempts: 0, failures: [] });
      await worker.close();
    });

    it("tells when the handlers run again", async () => {
      const slow = await open({ backoff: 60_000 });
      fails = () => new Error("not yet");
      const startMs = Date.now();
      work({}, slow);
      await store(factor("a"), slow);
      await untilStats(queue, { delayed: 1 });
      const found = await find("a");
      expect(found).toMatchObject({ state: "delayed", attempts: 1 });
      expect(found?.failures).toMatchObject([{ error: "HANDLER_FAILED: not yet" }]);
      expect(Number(found?.at) - startMs).toBeGreaterThan(59_000);
      expect(Number(found?.at) - Date.now()).toBeLessThan(61_000);
    });

    it("tells the failed attempts, the oldest first, also those before a retry", async () => {
      fails = (_event, attempt) => new Error(`attempt ${attempt}`);
      const startMs = Date.now();
      work();
      await store(factor("a"));
      for (const count of [3, 6]) {
        await untilStats(queue, { deadLetters: 1 });
        const { failures = [], ...found } = (await find("a")) ?? {};
        expect(found).toMatchObject({ state: "dead", attempts: 3 });
        const errors = Array.from(
          { length: count },
          (_, index) => `HANDLER_FAILED: attempt ${(index % 3) + 1}`,
        );
        expect(failures).toMatchObject(
          errors.map((error) => ({
            error,
            durationMs: expect.any(Number) as number,
            process: expect.stringMatching(`^${process.pid} on `) as string,
          })),
        );
        const times = [startMs, ...failures.map(({ at }) => at.getTime()), Date.now()];
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        expect(await queue.retry("a")).toBe(true);
      }
    });

    it("keeps the last 10 failed attempts, and 1,000 characters of each error", async () => {
      const patient = await open({ attempts: 12, backoff: 1 });
      fails = (_event, attempt) => new Error(`attempt ${attempt} ${"ü".repeat(2_000)}`);
      work({}, patient);
      await store(factor("a"), patient);
      await untilStats(queue, { deadLetters: 1 });
      const { failures = [], at: failedAt } = (await find("a")) ?? {};
      expect(failures).toHaveLength(10);
      for (const [index, { error }] of failures.entries()) {
        expect(error).toMatch(new RegExp(`^HANDLER_FAILED: attempt ${index + 3} ü+…$`));
        expect(error).toHaveLength(1_001);
      }
      expect(await collect(queue.deadLetters())).toMatchObject([
        { error: failures[9]?.error, failedAt },
      ]);
    });

    it("rejects a uuid of several accounts with a TypeError unless accountSid is given", async () => {
      for (const account of ACCOUNTS) await store(ofAccount("a", account));
      await expect(find("a")).rejects.toThrow(TypeError);
      for (const accountSid of ACCOUNTS) {
        expect(await find("a", { accountSid })).toMatchObject({ state: "waiting", accountSid });
      }
      expect(await find("a", { accountSid: "AC3" })).toBeUndefined();
    });
  });

  describe("outcomes", () => {
    it("resolves waits of other processes, however they race with the store", async () => {
      const other = await open();
      const indexes = Array.from({ length: 100 }, (_, index) => index);
      const outcomes = await Promise.all(
        indexes.map(async (index) => {
          const stored = store(challenge(`u${index}`, index));
          if (index % 3 === 0) await stored;
          const event = await wait(index, other);
          await stored;
          return event.uuid;
        }),
      );
      expect(outcomes).toEqual(indexes.map((index) => `u${index}`));
    });

    it("resolves a wait while others of its process begin and end all the time", async () => {
      const other = await open();
      const found: string[] = [];
      const waiting = wait(1, queue, 20_000).then(({ uuid }) => found.push(uuid));
      await store(challenge("a", 1), other);
      for (let turn = 0; turn < 1_000 && found.length === 0; turn++) {
        await expect(wait(2, queue, 1)).rejects.toEqual(codeOf("CHALLENGE_TIMEOUT"));
      }
      expect(found).toEqual(["a"]);
      await waiting;
    });

    it("has those of each account", async () => {
      const [first = "", second = ""] = ACCOUNTS;
      const waitOf = (account: string, timeoutMs: number) =>
        queue.outcomes.wait({ account, challengeSid: sidOf(1), timeoutMs });
      const waiting = expect(waitOf(first, 200)).rejects.toEqual(codeOf("CHALLENGE_TIMEOUT"));
      await store({ ...challenge("a", 1), account: second });
      await waiting;
      await store({ ...challenge("a", 1), account: first });
      for (const account of ACCOUNTS) expect(await waitOf(account, 5_000)).toBeDefined();
    });

    it("keeps the first outcome of a challenge", async () => {
      await store(challenge("a", 1));
      await store(
        queuedEvent(eventFixture("challenge.denied", { uuid: "b", challenge_sid: sidOf(1) })),
      );
      const event = eventFixture("challenge.denied", { uuid: "c", challenge_sid: sidOf(1) });
      await queue.outcomes.record("", event);
      expect(await wait(1)).toMatchObject({ uuid: "a", type: "challenge.approved" });
    });

    it("keeps no outcome of a duplicate or a conflict", async () => {
      await store(factor("a"));
      expect(await store({ ...challenge("a", 1), contentHash: "other" })).toBe("conflict");
      await expect(wait(1, queue, 200)).rejects.toEqual(codeOf("CHALLENGE_TIMEOUT"));
    });

    it("ends a wait with its signal, and bounds how many are pending", async () => {
      const bounded = await open({ maxWaiting: 1 });
      const stop = new AbortController();
      const options = { account: "", challengeSid: sidOf(1), timeoutMs: 5_000 };
      const oldest = wait(2, bounded);
      const waiting = bounded.outcomes.wait({ ...options, signal: stop.signal });
      await expect(oldest).rejects.toEqual(codeOf("OVERLOADED"));
      stop.abort(new Error("the user left"));
      await expect(waiting).rejects.toThrow("the user left");
    });
  });

  const { change } = engine;
  if (change !== undefined) {
    describe("a clock that was set back by an hour", () => {
      it("delays no event, and hides no dead letter", async () => {
        fails = ({ uuid }) => THROWN[uuid];
        const slow = await open({ backoff: 20_000 });
        const worker = work({}, slow);
        for (const uuid of ["dead", "later"]) await store(factor(uuid));
        await untilStats(queue, { delayed: 1, deadLetters: 1 });
        await worker.close();
        await store(factor("new"));
        await change("run_at = run_at + 3600000, failed_at = failed_at + 3600000");
        handled = [];
        fails = () => undefined;
        work();
        await until(() => handled.length === 2, 10_000);
        expect(handled.map(({ event }) => event.uuid).toSorted()).toEqual(["later", "new"]);
        expect(await collect(queue.deadLetters())).toMatchObject([{ uuid: "dead" }]);
      });

      it("is not seen in a long pause", async () => {
        fails = () => new Error("later");
        const slow = await open({ backoff: 3_600_000 });
        work({}, slow);
        await store(factor("a"));
        await untilStats(queue, { delayed: 1 });
        // Each beat compares the clocks: the first one of a worker makes it count.
        work();
        await untilStats(queue, { workers: 2 });
        expect(await queue.stats()).toMatchObject({ delayed: 1, waiting: 0 });
      });
    });
  }

  describe("stats", () => {
    it("counts events by their state", async () => {
      const slow = await open({ backoff: 60_000 });
      const gate = createGate();
      fails = ({ uuid }) => THROWN[uuid] ?? gate.opened;
      work({ concurrency: 3 }, slow);
      for (const uuid of ["dead", "later", "slow"]) await store(factor(uuid), slow);
      await until(() => handled.length === 3);
      await untilStats(queue, { waiting: 0, active: 1, delayed: 1, deadLetters: 1 });
      gate.open();
      await untilStats(queue, { active: 0 });
    });

    it("tells how long the oldest waiting event has waited", async () => {
      const startMs = performance.now();
      expect(await queue.stats()).toMatchObject({ waiting: 0, oldestWaitingMs: 0 });
      await store(factor("a"));
      await until(async () => (await queue.stats()).oldestWaitingMs >= 100);
      await store(factor("b"));
      const { waiting, oldestWaitingMs } = await queue.stats();
      expect(waiting).toBe(2);
      expect(oldestWaitingMs).toBeGreaterThanOrEqual(100);
      expect(oldestWaitingMs).toBeLessThanOrEqual(performance.now() - startMs + 1);
    });

    it("counts an event whose pause is over as waiting since then, without a worker", async () => {
      const slow = await open({ backoff: 300 });
      fails = () => new Error("no");
      const worker = work({}, slow);
      const startMs = performance.now();
      await store(factor("a"), slow);
      await untilStats(queue, { delayed: 1 });
      await worker.close();
      await until(async () => (await queue.stats()).oldestWaitingMs > 0);
      const stats = await queue.stats();
      expect(stats).toMatchObject({ waiting: 1, active: 0, delayed: 0 });
      expect(stats.oldestWaitingMs).toBeLessThanOrEqual(performance.now() - startMs - 300 + 1);
    });

    it("counts it so when a worker is busy with other events", async () => {
      const slow = await open({ backoff: 500 });
      const gates: ReturnType<typeof createGate>[] = [];
      fails = ({ uuid }) => {
        if (uuid === "a") return new Error("no");
        gates.push(createGate());
        return gates.at(-1)?.opened;
      };
      const startMs = performance.now();
      for (const uuid of ["a", "b", "c"]) await store(factor(uuid), slow);
      work({ concurrency: 1 }, slow);
      await until(() => gates.length === 1);
      await untilStats(queue, { waiting: 2 });
      gates[0]?.open();
      await until(() => gates.length === 2);
      // The end of "b" may be on its way.
      await untilStats(queue, { active: 1 });
      const stats = await queue.stats();
      expect(stats).toMatchObject({ waiting: 1, active: 1, delayed: 0 });
      expect(stats.oldestWaitingMs).toBeGreaterThan(0);
      expect(stats.oldestWaitingMs).toBeLessThanOrEqual(performance.now() - startMs - 500 + 1);
      fails = () => undefined;
      gates[1]?.open();
      await untilStats(queue, { waiting: 0 });
    });

    it("counts a dead letter that is retried as waiting since the retry", async () => {
      await makeDead(factor("a"), factor("b"));
      const startMs = performance.now();
      expect(await queue.retry("a")).toBe(true);
      expect(await queue.retryAll()).toBe(1);
      expect(await queue.stats()).toMatchObject({ waiting: 2, deadLetters: 0 });
      const { oldestWaitingMs } = await queue.stats();
      expect(oldestWaitingMs).toBeLessThanOrEqual(performance.now() - startMs + 1);
    });
  });

  describe("other processes", () => {
    const folder = mkdtempSync(join(tmpdir(), "push-contract-"));
    const log = join(folder, "log");
    const readLog = () => readFileSync(log, "utf8").split("\n").slice(0, -1);
    const idle = { waiting: 0, active: 0, delayed: 0 };
    let messages: string[];

    /** Starts a process that stores events in so many lanes. */
    const start = (lanes: number) =>
      engine.startProcess((message) => void messages.push(message), log, String(lanes));

    beforeEach(() => {
      messages = [];
      writeFileSync(log, "");
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("lose no event that they stored when they are killed", async () => {
      const running = [await start(4), await start(4)];
      for (const kill of [0, 1, 2]) {
        const before = messages.length;
        await until(() => messages.length > before + 20, 20_000);
        await engine.killProcess(running[kill % 2]!);
        running[kill % 2] = await start(4);
      }
      for (const child of running) await engine.killProcess(child);
      work();
      await untilStats(queue, idle);
      const done = new Set([...readLog(), ...handled.map(({ event }) => event.uuid)]);
      const stored = messages.filter((message) => message !== "ready");
      expect(stored.filter((uuid) => !done.has(uuid))).toEqual([]);
    }, 60_000);

    it("that hang are not counted, lose their events to others, and leave them when they go on", async () => {
      const child = await start(0);
      const uuids = ["slow", "slow-failing"];
      for (const uuid of uuids) await store(factor(uuid));
      await until(() => uuids.every((uuid) => messages.includes(`began ${uuid}`)));
      await untilStats(queue, { workers: 1 });

      child.kill("SIGSTOP");
      const gate = createGate();
      fails = ({ uuid }) => (uuids.includes(uuid) ? gate.opened : undefined);
      work({ handlerTimeoutMs: 60_000 });
      await until(() => handled.length === 2, 15_000);
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
    }, 120_000);
  });
}
