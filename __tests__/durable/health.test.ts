import type { QueueStats } from "express-push-verification/durable";
import { describeQueueHealth } from "../../lib/durable/health";

const STATS = { waiting: 0, active: 0, delayed: 0, deadLetters: 0, oldestWaitingMs: 0, workers: 1 };
const startMs = Date.now();

beforeEach(() => void jest.useFakeTimers({ now: startMs }));
afterEach(() => void jest.useRealTimers());

interface Case {
  stats: Partial<QueueStats>;
  /** How long each worker of the process is free; undefined: busy. */
  freeMs: (number | undefined)[];
}

/** The health after a minute without an outage. */
function check({ stats, freeMs }: Case) {
  jest.advanceTimersByTime(60_000);
  const atMs = performance.now();
  const free = freeMs.map((ms) => (ms === undefined ? undefined : atMs - ms));
  const workers = free.map((freedAtMs) => ({ freedAtMs: () => freedAtMs }) as never);
  const available = { outage: () => undefined } as never;
  return describeQueueHealth(available, new Set(workers), async () => ({ ...STATS, ...stats }));
}

const waits = { waiting: 3, oldestWaitingMs: 15_000 };

it.each<[title: string, given: Case]>([
  ["an idle queue", { stats: {}, freeMs: [60_000] }],
  [
    "a backlog whose events wait for 14.9 s",
    { stats: { ...waits, oldestWaitingMs: 14_900 }, freeMs: [60_000] },
  ],
  ["a backlog that a worker takes", { stats: waits, freeMs: [100] }],
  ["a worker that is busy", { stats: waits, freeMs: [undefined] }],
  ["a process without workers, while others work", { stats: waits, freeMs: [] }],
])("%s is healthy", async (_title, given) => {
  expect(await check(given)).toEqual({ status: "healthy" });
});

it("a worker that takes no event for 15 s while one waits is unhealthy since then", async () => {
  const reason = expect.stringContaining("3 wait") as string;
  const since = new Date(startMs + 45_000);
  const stopped = { status: "unhealthy", code: "WORKER_STOPPED", reason, since };
  expect(await check({ stats: waits, freeMs: [100, 15_000] })).toEqual(stopped);
});

it("a queue that no process works on is degraded since the oldest event waits", async () => {
  const since = new Date(startMs + 45_000);
  const none = { status: "degraded", code: "NO_WORKER", since };
  expect(await check({ stats: { ...waits, workers: 0 }, freeMs: [] })).toMatchObject(none);
});

it("a store that does not respond within 0.8 s is degraded", async () => {
  const available = { outage: () => undefined } as never;
  const health = describeQueueHealth(available, new Set(), () => new Promise(() => {}));
  await jest.advanceTimersByTimeAsync(800);
  expect(await health).toMatchObject({ status: "degraded", code: "STORE_UNAVAILABLE" });
});
