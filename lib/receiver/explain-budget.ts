/** Bounds the work of explaining rejected requests. */
export type ExplainBudget = ReturnType<typeof createExplainBudget>;

/** The limits of one receiver: 10 reports and 300 ms of work within any 60 s. */
export const EXPLAIN_LIMITS = {
  /** The period that the other limits apply to, in milliseconds. */
  windowMs: 60_000,
  /** The number of reports within one period. */
  maxReports: 10,
  /** The time spent on reports within one period, in milliseconds; the last report may exceed it. */
  maxWorkMs: 300,
};

/** Creates an unused budget. The period slides: a report counts until it is `windowMs` old. */
export function createExplainBudget({ windowMs, maxReports, maxWorkMs } = EXPLAIN_LIMITS) {
  let reports: { startMs: number; workMs: number }[] = [];

  return {
    /** Runs `explain` and returns its report; at a limit, returns undefined without running it. */
    spend<Report>(explain: () => Report): Report | undefined {
      const startMs = performance.now();
      reports = reports.filter((report) => startMs - report.startMs < windowMs);
      let spentMs = 0;
      for (const { workMs } of reports) spentMs += workMs;
      if (reports.length >= maxReports || spentMs >= maxWorkMs) return undefined;
      const report = { startMs, workMs: 0 };
      reports.push(report);
      try {
        return explain();
      } finally {
        report.workMs = performance.now() - startMs;
      }
    },
  };
}
