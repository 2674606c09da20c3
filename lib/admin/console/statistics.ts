import type { RequestRow, Series, Statistics } from "./console-view";

/** The last 60 minutes by the minute, and the last 24 hours by the hour. */
const SERIES = [
  { stepMs: 60_000, count: 60 },
  { stepMs: 3_600_000, count: 24 },
] as const;

/** Counts requests over time: counters alone, however many requests there are. */
export function createStatistics() {
  const series = SERIES.map(({ stepMs, count }) => createSeries(stepMs, count));
  return {
    add({ atMs, status }: RequestRow): void {
      for (const one of series) one.add(atMs, status < 400);
    },
    read: (nowMs: number): Statistics => ({ series: series.map((one) => one.read(nowMs)) }),
  };
}

function createSeries(stepMs: number, count: number) {
  // A ring: the counters of a step are at its number modulo the size.
  const steps = Array.from({ length: count }, () => ({ step: 0, accepted: 0, bad: 0 }));
  return {
    add(atMs: number, isAccepted: boolean): void {
      const step = Math.floor(atMs / stepMs);
      const earlier = steps[step % count];
      const counters = earlier?.step === step ? earlier : { step, accepted: 0, bad: 0 };
      steps[step % count] = counters;
      counters[isAccepted ? "accepted" : "bad"]++;
    },
    read(nowMs: number): Series {
      const last = Math.floor(nowMs / stepMs);
      const counters = Array.from({ length: count }, (_, index) => {
        const step = last - count + 1 + index;
        const found = steps[step % count];
        return found?.step === step ? found : { accepted: 0, bad: 0 };
      });
      return {
        stepMs,
        startMs: (last - count + 1) * stepMs,
        accepted: counters.map(({ accepted }) => accepted),
        bad: counters.map(({ bad }) => bad),
      };
    },
  };
}
