import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { toOutcome } from "../../lib/core/delivery/outcome";
import { createQueue, type Engine } from "../../lib/durable/queue";
import { planFailure } from "../../lib/durable/failure-plan";
import { resolveQueueOptions, type Backoff } from "../../lib/durable/queue-options";
import { QueueError } from "../../lib/durable/queue-error";
import type { ClaimedEvent, Member, NewEvent } from "../../lib/durable/storage";
import { toNewEvent } from "../../lib/durable/stored-event";
import { queuedEvent, silent, storeFactor } from "../support/durable";
import { createReceiver } from "../support/receivers";
import { createGate, never, nextTurn, until } from "../support/waiting";
import { ACCOUNT_SID } from "../support/webhook-requests";

// A pause is 20 turns.
jest.mock("node:timers/promises", () => {
  const actual = jest.requireActual<{ setImmediate(): Promise<void> }>("node:timers/promises");
  const setTimeout = jest.fn(async () => {
    for (let turns = 0; turns < 20; turns++) await actual.setImmediate();
  });
  return { ...actual, setTimeout };
});
const POLL = "tracing:express-push-verification:poll:start";
const listPauses = () => jest.mocked(sleep).mock.calls.map(([ms]) => ms);

afterEach(() => {
  jest.useRealTimers();
  jest.mocked(sleep).mockClear();
});

/** A queue whose store does not reply to `store`. */
function open(change: object = {}, logger = silent) {
  const engine = {
    title: "The store",
    outageCode: "LOST",
    connect: async () => ({ ended: never() }),
    store: never,
    secret: async (candidate: string) => candidate,
    async appendEntries() {},
    async trimEntries() {},
    async close() {},
    ...change,
  };
  const settings = resolveQueueOptions("test", { name: "q", logger }, {});
  return createQueue(engine as unknown as Engine, settings);
}

const event: ClaimedEvent = {
  id: 1,
  started: 1,
  body: "{}",
  attempt: 1,
  failures: 0,
  errors: null,
};
const { body } = toNewEvent("q", queuedEvent(eventFixture("factor.created")), undefined);
const readable = { ...event, body };

it.each<[backoff: Backoff, pausesMs: number[]]>([
  [{ type: "fixed", delayMs: 100 }, [100, 100, 100]],
  [{ type: "exponential", delayMs: 100 }, [100, 200, 400]],
  [{ type: "exponential", delayMs: 100, jitter: 0.5 }, [75, 150, 300]],
  [{ type: "exponential", delayMs: 2 ** 30 }, [2 ** 30, 2 ** 31 - 1, 2 ** 31 - 1]],
])("has pauses by %j: %j", (backoff, expected) => {
  const random = jest.spyOn(Math, "random").mockReturnValue(0.5);
  const settings = resolveQueueOptions("test", { name: "q", backoff }, {});
  const failure = { reason: "down", masked: "down", isPermanent: false, isForged: false };
  const plan = (failures: number) => planFailure(settings, failure, failures, null);
  expect([1, 2, 3].map((failures) => plan(failures).pauseMs)).toEqual(expected);
  random.mockRestore();
});

it("stores no event later that it has rejected", async () => {
  jest.useFakeTimers();
  const { opened, open: reply } = createGate();
  const stored: NewEvent[] = [];
  const store = async (events: NewEvent[]) => {
    stored.push(...events);
    await opened;
    return events.map(({ content }) => content);
  };
  const queue = open({ store, storeBatches: { maxItems: 1, maxRunning: 1 } });
  await queue.ready();
  const first = storeFactor(queue, "first", Infinity);
  await nextTurn();
  await jest.advanceTimersByTimeAsync(10);
  const late = expect(storeFactor(queue, "late", performance.now() + 100)).rejects.toThrow();
  for (let step = 0; step < 4; step++) {
    await jest.advanceTimersByTimeAsync(100);
    for (let turns = 0; turns < 30; turns++) await nextTurn();
  }
  await late;
  reply();
  await jest.advanceTimersByTimeAsync(10);
  expect(await first).toBe("new");
  expect(stored).toHaveLength(1);
  jest.useRealTimers();
  await queue.close();
});

it.each(["store", "record", "finish", "fail", "beat"])(
  "reports an outage when %s fails",
  async (method) => {
    const failing = jest.fn(() => Promise.reject(new Error("The disk is full.")));
    const claimed = method === "finish" ? readable : event;
    const parts = {
      store: async () => [],
      record: async () => {},
      beat: async () => {},
      claim: async () => [claimed],
      finish: never,
      fail: never,
      leave: async () => {},
    };
    const [warn, info] = [jest.fn(), jest.fn()];
    const queue = open({ ...parts, [method]: failing }, { ...silent, warn, info });
    await queue.ready();
    queue.work(createHandlers().onAny(() => {}));
    const outcome = toOutcome(eventFixture("challenge.approved"));
    const recording = Promise.resolve(queue.outcomes.record("", outcome));
    const settled = Promise.allSettled([storeFactor(queue, "a"), recording]);
    await until(() => warn.mock.calls.length > 0);
    expect(warn.mock.calls).toEqual([[{ code: "LOST" }, expect.stringContaining("is full")]]);
    expect(await queue.health()).toHaveProperty("code", "STORE_UNAVAILABLE");
    if (/store|record/.test(method)) {
      await until(() => failing.mock.calls.length > 6);
      expect(Math.max(...listPauses().map(Number))).toBe(200);
      const clock = jest.spyOn(performance, "now").mockReturnValue(0);
      failing.mockResolvedValue([] as never);
      info.mockClear();
      await until(() => info.mock.calls.length > 0);
      clock.mockRestore();
    }
    await queue.close({ deadlineMs: 0 });
    await settled;
  },
);

it("rejects an event at the earlier of its deadline and storeTimeoutMs", async () => {
  jest.useFakeTimers();
  const queue = open();
  const startMs = performance.now();
  const rejections = [Infinity, 1_000, 20_000].map((deadlineMs) =>
    expect(storeFactor(queue, "a", startMs + deadlineMs))
      .rejects.toHaveProperty("code", "STORE_UNAVAILABLE")
      .then(() => Math.floor((performance.now() - startMs) / 1_000)),
  );
  for (let step = 0; step < 40; step++) {
    await jest.advanceTimersByTimeAsync(500);
    for (let turns = 0; turns < 30; turns++) await nextTurn();
  }
  expect(await Promise.all(rejections)).toEqual([8, 1, 8]);
  jest.useRealTimers();
  await queue.close();
});

it("rejects events with the QueueError of the store", async () => {
  const error = new QueueError("REDIS_REJECTED", "It is wrong.", { cause: new Error("hush") });
  const queue = open({ connect: () => Promise.reject(error) });
  await expect(queue.ready()).rejects.toBe(error);
  const rejection: unknown = await storeFactor(queue, "a", 0).catch((reason: unknown) => reason);
  expect((rejection as Error).cause).toBe(error);
  const { name, code, message } = error;
  expect(JSON.parse(JSON.stringify(error))).toEqual({ name, code, message });
  await queue.close();
});

it("closes after a worker has given its events back", async () => {
  const ended: string[] = [];
  const { opened, open: end } = createGate();
  const log = jest.fn();
  const { opened: running, open: run } = createGate();
  const queue = open(
    {
      connect: async () => ({ ended: opened.then(() => new Error("ended")) }),
      beat: async () => {},
      claim: async () => (run(), [event]),
      fail: never,
      async leave() {
        for (let turns = 0; turns < 9; turns++) await nextTurn();
        ended.push("worker");
      },
      async close() {
        ended.push("store");
        end();
        await nextTurn();
      },
    },
    { ...silent, info: log, warn: log },
  );
  queue.work(createHandlers().onAny(() => {}));
  await running;
  await queue.close({ deadlineMs: 0 });
  expect(ended).toEqual(["worker", "store"]);
  expect(log).not.toHaveBeenCalled();
});

it("looks for events when one is handled, stored or retried", async () => {
  jest.useFakeTimers();
  const claim = jest.fn(async (): Promise<ClaimedEvent[]> => []).mockResolvedValueOnce([readable]);
  const store = async (events: NewEvent[]) => events.map(({ content }) => content);
  const done = async () => [];
  const queue = open({ claim, store, beat: done, finish: done, find: done, leave: done });
  await queue.ready();
  queue.work(
    createHandlers().onAny(() => {}),
    { concurrency: 1 },
  );
  const polls = jest.fn();
  subscribe(POLL, polls);
  const countClaims = async () => {
    await jest.advanceTimersByTimeAsync(50);
    return claim.mock.calls.splice(0).length;
  };
  expect(await countClaims()).toBe(2);
  unsubscribe(POLL, polls);
  expect(polls).toHaveBeenCalledTimes(2);
  const stored = storeFactor(queue, "a");
  expect(await countClaims()).toBe(1);
  const retried = queue.retry("a");
  expect(await countClaims()).toBe(1);
  expect(await Promise.all([stored, retried])).toEqual(["new", false]);
  jest.useRealTimers();
  await queue.close();
});

it("takes no more events while the ends of 128 are not stored", async () => {
  let count = 0;
  const claim = async (_owner: number, _held: unknown, wanted: number) =>
    Array.from({ length: wanted }, () => ({ ...event, id: ++count }));
  const queue = open({ beat: async () => {}, claim, fail: never, leave: async () => {} });
  const worker = queue.work(
    createHandlers().onAny(() => {}),
    { concurrency: 10 },
  );
  for (let turns = 0; turns < 500; turns++) await nextTurn();
  expect(count).toBeGreaterThanOrEqual(128);
  expect(count).toBeLessThan(138);
  await worker.close({ deadlineMs: 7 });
  await queue.close({ deadlineMs: 0 });
  expect(listPauses()).toEqual([7, 0, 250]);
});

it("a worker that is closing beats until its handlers have finished", async () => {
  jest.useFakeTimers();
  const { opened, open: finish } = createGate();
  const beat = jest.fn<Promise<void>, [members: Member[]]>(async () => {});
  const claim = jest.fn(async (): Promise<ClaimedEvent[]> => []).mockResolvedValueOnce([readable]);
  const queue = open({ beat, claim, finish: async () => {}, leave: down });
  await queue.ready();
  const handler = jest.fn(() => opened);
  const worker = queue.work(createHandlers().onAny(handler));
  await jest.advanceTimersByTimeAsync(10);
  expect(handler).toHaveBeenCalledTimes(1);
  const closed = worker.close();
  const readMembers = async () => {
    await jest.advanceTimersByTimeAsync(2_000);
    return beat.mock.calls.at(-1)?.[0].map(({ isWorker }) => isWorker);
  };
  expect(await readMembers()).toEqual([false, false]);
  finish();
  expect(await readMembers()).toEqual([false]);
  jest.useRealTimers();
  await closed;
  await queue.close();
});

it("runs no handlers of a claim whose reply comes after the end of the queue", async () => {
  const { opened, open: reply } = createGate();
  const claim = jest.fn(() => opened.then(() => [readable]));
  const queue = open({ beat: async () => {}, claim, leave: async () => {} });
  const handler = jest.fn();
  queue.work(createHandlers().onAny(handler));
  await until(() => claim.mock.calls.length > 0);
  await queue.close({ deadlineMs: 0 });
  reply();
  for (let turns = 0; turns < 9; turns++) await nextTurn();
  expect(handler).not.toHaveBeenCalled();
});

const down = () => Promise.reject(new Error("down"));
it.each<[what: string, change: object]>([
  ["rejects it", { appendEntries: down, trimEntries: down }],
  ["has no secret", { secret: down }],
  ["does not reply to it", { appendEntries: never, secret: never, trimEntries: never }],
])("a journal delays nothing when the store %s", async (_what, change) => {
  const claim = jest.fn(async (): Promise<ClaimedEvent[]> => []).mockResolvedValueOnce([readable]);
  const store = async (events: NewEvent[]) => events.map(({ content }) => content);
  const done = async () => {};
  const queue = open({ claim, store, beat: done, finish: done, leave: done, ...change });
  await queue.ready();
  const handler = jest.fn();
  queue.work(createHandlers().onAny(handler));
  queue.journal?.append({ kind: "change", atMs: Date.now(), status: 200, share: "" });
  expect(await storeFactor(queue, "a")).toBe("new");
  await until(() => handler.mock.calls.length > 0);
  await queue.close();
});

it("a queue that is closed writes what its journal has noted", async () => {
  const appendEntries = jest.fn(async () => {});
  const queue = open({ appendEntries });
  await queue.ready();
  queue.journal?.append({ kind: "change", atMs: Date.now(), status: 201, share: "" });
  await queue.close();
  const text = expect.stringContaining('"status":201') as string;
  const entries = [expect.anything(), { kind: "change", share: "", text }];
  expect(appendEntries.mock.calls).toEqual([[entries, []]]);
});

it("rejects wrong handlers and options of a worker", async () => {
  const queue = open({ beat: async () => {} });
  const handlers = createHandlers();
  const receiver = createReceiver().push;
  for (const wrong of [handlers, { ...handlers }, receiver, undefined])
    expect(() => queue.work(wrong as never)).toThrow(TypeError);
  handlers.onAny(() => {});
  expect(() => queue.work(handlers, { concurrency: 0 })).toThrow(TypeError);
  await queue.close();
});

const ADA = { accountSid: ACCOUNT_SID, entityIdentity: "Zoë" };
it.each<[what: string, user: object]>([
  ["an identity in place of the account", { ...ADA, accountSid: ADA.entityIdentity }],
  ["no account", { entityIdentity: ADA.entityIdentity }],
  ["an identity that is empty", { ...ADA, entityIdentity: "" }],
  ["another name", { ...ADA, identity: ADA.entityIdentity }],
])("rejects as a user %s with a TypeError that does not quote it", async (_what, user) => {
  const queue = open();
  for (const operation of ["countUserData", "eraseUserData"] as const) {
    const error: unknown = await queue[operation](user as never).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toContain("Zoë");
  }
  await queue.close();
});
