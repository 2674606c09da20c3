import type { QueueStats } from "express-push-verification/durable";
import { describeQueueHealth } from "../../lib/durable/health";
import { never } from "../support/waiting";

const waits = { waiting: 3, oldestWaitingMs: 15_000, workers: 1 };
const startMs = Date.now();
const since = new Date(startMs + 45_000);
const available = { outage: () => undefined } as never;

beforeEach(() => void jest.useFakeTimers({ now: startMs }));
afterEach(() => void jest.useRealTimers());

const healthy = { status: "healthy" };
const reason = expect.stringContaining("3 wait") as string;
const stopped = { status: "unhealthy", code: "WORKER_STOPPED", reason, since };
const held = (words: string, ms: number) => {
  const advice = expect.stringContaining(words) as string;
  return {
    status: "degraded",
    code: "QUEUE_PAUSED",
    reason: advice,
    since: new Date(startMs + ms),
  };
};
const unattended = { status: "degraded", code: "NO_WORKER", reason, since };

// How long each worker of the process is free; undefined: busy.
it.each<[title: string, stats: object, freeMs: (number | undefined)[], health: object]>([
  ["an idle queue", { oldestWaitingMs: 0 }, [60_000], healthy],
  ["events that wait for 14.9 s", { ...waits, oldestWaitingMs: 14_900 }, [60_000], healthy],
  ["a backlog that a worker takes", waits, [100], healthy],
  ["a worker that is busy", waits, [undefined], healthy],
  ["a queue that is paused", { hold: "paused", oldestWaitingMs: 0 }, [], held("Resume it", 60_000)],
  [
    "one that is limited, while its events wait",
    { ...waits, hold: "limited" },
    [],
    held("limit of", 45_000),
  ],
  ["one that is limited", { hold: "limited", oldestWaitingMs: 14_900 }, [60_000], healthy],
  ["a process without workers, while others work", waits, [], healthy],
  ["a worker that takes no event for 15 s while one waits", waits, [100, 15_000], stopped],
  ["a queue that no process works on", { ...waits, workers: 0 }, [], unattended],
])("%s", async (_title, stats, freeMs, expected) => {
  jest.advanceTimersByTime(60_000);
  const nowMs = performance.now();
  const workers = freeMs.map((ms) => {
    return { freedAtMs: () => (ms === undefined ? undefined : nowMs - ms) } as never;
  });
  const readStats = async () => stats as QueueStats;
  expect(await describeQueueHealth(available, new Set(workers), readStats)).toEqual(expected);
});

it("a store that does not respond within 0.8 s is degraded", async () => {
  const outage = { error: new Error("down"), since };
  const noticed = {
    outage: jest.fn(() => outage).mockReturnValueOnce(undefined as never),
  } as never;
  const both = [available, noticed].map((one) => describeQueueHealth(one, new Set(), never));
  await jest.advanceTimersByTimeAsync(800);
  const degraded = { status: "degraded", code: "STORE_UNAVAILABLE" };
  const now = { ...degraded, since: new Date(startMs + 800) };
  expect(await Promise.all(both)).toMatchObject([now, { ...degraded, since }]);
});

it.each([
  ["is lost", false, "degraded"],
  ["only a restart opens again", true, "unhealthy"],
])("a store that %s is %p: %s", async (_what, isOver, status) => {
  const availability = {
    outage: () => ({ error: new Error("down"), since }),
    isOver: () => isOver,
  };
  const health = await describeQueueHealth(availability as never, new Set(), never);
  expect(health).toMatchObject({ status, code: "STORE_UNAVAILABLE", since });
});
