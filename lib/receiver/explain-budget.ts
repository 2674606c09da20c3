/** Options of {@link createExplainBudget}. */
export interface ExplainBudgetLimits {
  /** The period that the other limits apply to, in milliseconds. */
  windowMs: number;
  /** The number of reports within one period. */
  maxReports: number;
  /**
   * The time spent on reports within one period, in milliseconds; the last report may exceed it.
   */
  maxWorkMs: number;
}

/** Bounds the work of explaining rejected requests. */
export interface ExplainBudget {
  /** Runs `explain` and returns its report; at a limit, returns undefined without running it. */
  spend<Report>(explain: () => Report): Report | undefined;
}

/** The limits of one receiver: 10 reports and 300 ms of work within any 60 s. */
export const EXPLAIN_LIMITS: ExplainBudgetLimits = {
  windowMs: 60_000,
  maxReports: 10,
  maxWorkMs: 300,
};

/** Creates an unused budget. The period slides: a report counts until it is `windowMs` old. */
export function createExplainBudget(limits: ExplainBudgetLimits = EXPLAIN_LIMITS): ExplainBudget {
  const { windowMs, maxReports, maxWorkMs } = limits;
  let reports: { startMs: number; workMs: number }[] = [];

  return {
    spend(explain) {
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
