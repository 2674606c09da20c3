/** Limits of {@link createExplainBudget}. */
export interface ExplainBudgetLimits {
  /** The period that the other limits apply to, in milliseconds. */
  windowMs: number;
  /** Reports within one period. */
  maxReports: number;
  /** Time spent on reports within one period, in milliseconds; the last report may exceed it. */
  maxWorkMs: number;
}

/** Bounds the work that rejected requests cause when their errors are explained. */
export interface ExplainBudget {
  /** Runs `explain` and returns its report; returns undefined without running it at a limit. */
  spend<Report>(explain: () => Report): Report | undefined;
}

/** The limits of one receiver: 10 reports and 300 ms of work within any 60 s. */
export const EXPLAIN_LIMITS: ExplainBudgetLimits = {
  windowMs: 60_000,
  maxReports: 10,
  maxWorkMs: 300,
};

/** Creates an unused budget. The period slides: what was spent counts until it is `windowMs` old. */
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
