import { createQueue, type Engine } from "../../lib/durable/queue";
import { resolveQueueOptions } from "../../lib/durable/queue-options";
import { silent, storeFactor } from "../support/durable";
import { never } from "../support/waiting";

// The pauses between attempts.
jest.mock("node:timers/promises", () => ({
  ...jest.requireActual<object>("node:timers/promises"),
  setTimeout: async () => {},
}));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A queue whose store does not reply to `store`. */
function open() {
  const engine = {
    title: "The store",
    connect: async () => ({ ended: never() }),
    store: never,
    secret: async (candidate: string) => candidate,
    async appendEntries() {},
    async trimEntries() {},
    async close() {},
  };
  const settings = resolveQueueOptions("test", { name: "q", logger: silent }, {});
  return createQueue(engine as unknown as Engine, settings);
}

it("rejects an event at its deadline, or after storeTimeoutMs if that is earlier", async () => {
  const queue = open();
  const startMs = performance.now();
  const rejections = [Infinity, 1_000, 20_000].map((deadlineMs) =>
    expect(storeFactor(queue, "a", startMs + deadlineMs))
      .rejects.toHaveProperty("code", "STORE_UNAVAILABLE")
      .then(() => Math.round((performance.now() - startMs) / 1_000)),
  );
  await jest.advanceTimersByTimeAsync(30_000);
  expect(await Promise.all(rejections)).toEqual([8, 1, 8]);
  jest.useRealTimers();
  await queue.close();
});
