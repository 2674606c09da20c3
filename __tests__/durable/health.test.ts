import type { QueueStats } from "express-push-verification/durable";
import { describeQueueHealth } from "../../lib/durable/health";
import { never } from "../support/waiting";

const waits = { waiting: 3, oldestWaitingMs: 15_000, workers: 1 };
const startMs = Date.now();
const since = new Date(startMs + 45_000);
const available = { outage: () => undefined } as never;

beforeEach(() => void jest.useFakeTimers({ now: startMs }));
afterEach(() => void jest.useRealTimers());

/** `freeMs`: how long each worker of the process is free; undefined: busy. */
type Case = [title: string, stats: object, freeMs: (number | undefined)[], health: object];

it.each<Case>([
  ["an idle queue is healthy", { oldestWaitingMs: 0 }, [60_000], { status: "healthy" }],
  [
    "events that wait for 14.9 s",
    { ...waits, oldestWaitingMs: 14_900 },
    [60_000],
    { status: "healthy" },
  ],
  ["a backlog that a worker takes is healthy", waits, [100], { status: "healthy" }],
  ["a worker that is busy is healthy", waits, [undefined], { status: "healthy" }],
  ["a process without workers, while others work, is healthy", waits, [], { status: "healthy" }],
  [
    "a worker that takes no event for 15 s while one waits is unhealthy since then",
    waits,
    [100, 15_000],
    {
      status: "unhealthy",
      code: "WORKER_STOPPED",
      reason: expect.stringContaining("3 wait"),
      since,
    },
  ],
  [
    "a queue that no process works on is degraded since the oldest event waits",
    { ...waits, workers: 0 },
    [],
    { status: "degraded", code: "NO_WORKER", reason: expect.any(String), since },
  ],
])("%s", async (_title, stats, freeMs, health) => {
  jest.advanceTimersByTime(60_000);
  const nowMs = performance.now();
  const workers = freeMs.map((ms) => {
    return { freedAtMs: () => (ms === undefined ? undefined : nowMs - ms) } as never;
  });
  const readStats = async () => stats as QueueStats;
  expect(await describeQueueHealth(available, new Set(workers), readStats)).toEqual(health);
});

it("a store that does not respond within 0.8 s is degraded", async () => {
  const health = describeQueueHealth(available, new Set(), never);
  await jest.advanceTimersByTimeAsync(800);
  expect(await health).toMatchObject({ status: "degraded", code: "STORE_UNAVAILABLE" });
});
