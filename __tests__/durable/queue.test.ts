import { createHandlers } from "express-push-verification";
import { createQueue, type Engine } from "../../lib/durable/queue";
import { resolveQueueOptions } from "../../lib/durable/queue-options";
import { QueueError } from "../../lib/durable/queue-error";
import type { ClaimedEvent } from "../../lib/durable/storage";
import { silent, storeFactor } from "../support/durable";
import { createGate, never, nextTurn } from "../support/waiting";

// A pause is 20 turns.
jest.mock("node:timers/promises", () => {
  const actual = jest.requireActual<typeof import("node:timers/promises")>("node:timers/promises");
  const setTimeout = async () => {
    for (let turns = 0; turns < 20; turns++) await actual.setImmediate();
  };
  return { ...actual, setTimeout };
});

afterEach(() => void jest.useRealTimers());

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

it("rejects an event at its deadline, or after storeTimeoutMs if that is earlier", async () => {
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

it("tells why the store rejects events, with the very QueueError", async () => {
  const error = new QueueError("REDIS_REJECTED", "The password is wrong.");
  const queue = open({ connect: () => Promise.reject(error) });
  await expect(queue.ready()).rejects.toBe(error);
  const rejection: unknown = await storeFactor(queue, "a", 0).catch((reason: unknown) => reason);
  expect((rejection as Error).cause).toBe(error);
  await queue.close();
});

it("closes without a word in the log, after a worker has given its events back", async () => {
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

it("takes no more events while the ends of 128 are not stored", async () => {
  let count = 0;
  const claim = async (_owner: number, _held: unknown, wanted: number) =>
    Array.from({ length: wanted }, () => ({ ...event, id: ++count }));
  const queue = open({ beat: async () => {}, claim, fail: never, leave: async () => {} });
  queue.work(
    createHandlers().onAny(() => {}),
    { concurrency: 10 },
  );
  for (let turns = 0; turns < 500; turns++) await nextTurn();
  expect(count).toBeGreaterThanOrEqual(128);
  expect(count).toBeLessThan(138);
  await queue.close({ deadlineMs: 0 });
});
