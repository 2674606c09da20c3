import { isPushEventType } from "../../event/event";
import type { RequestRow, Series, Statistics } from "./console-view";

/** The last 60 minutes by the minute, and the last 24 hours by the hour. */
const SERIES = [
  { stepMs: 60_000, count: 60 },
  { stepMs: 3_600_000, count: 24 },
] as const;
/** The upper bound of a counter of durations is this times that of the one before. */
const GROWTH = 1.1;
const FIRST_BOUND_MS = 0.1;
/** The last bound is above 2 minutes. */
const DURATION_COUNTERS = 150;

/** Counts requests over time and by duration: counters alone, however many requests there are. */
export function createStatistics() {
  const series = SERIES.map(({ stepMs, count }) => createSeries(stepMs, count));
  const durationsByType = new Map<string, Uint32Array>();

  return {
    add({ atMs, status, type, durationMs }: RequestRow): void {
      for (const one of series) one.add(atMs, status < 400);
      if (type === undefined) return;
      // A sender with a token may invent types.
      const name = isPushEventType(type) ? type : "other types";
      const durations = durationsByType.get(name) ?? new Uint32Array(DURATION_COUNTERS);
      durationsByType.set(name, durations);
      const place = Math.ceil(Math.log(durationMs / FIRST_BOUND_MS) / Math.log(GROWTH));
      const index = Math.min(Math.max(place, 0), DURATION_COUNTERS - 1);
      durations[index] = (durations[index] ?? 0) + 1;
    },
    read(nowMs: number): Statistics {
      return {
        series: series.map((one) => one.read(nowMs)),
        byType: [...durationsByType].map(([type, durations]) => ({
          type,
          count: durations.reduce((sum, count) => sum + count, 0),
          p50Ms: findPercentile(durations, 0.5),
          p95Ms: findPercentile(durations, 0.95),
        })),
      };
    },
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

function findPercentile(durations: Uint32Array, share: number): number {
  const total = durations.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  const index = durations.findIndex((count) => (seen += count) >= share * total);
  return FIRST_BOUND_MS * GROWTH ** index;
}
