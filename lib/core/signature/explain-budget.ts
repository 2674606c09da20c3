/**
 * Creates a budget of explanations: `maxReports` reports, and `maxWorkMs` of work, within any
 * `windowMs`; the last report may exceed it.
 */
export function createExplainBudget({ windowMs = 60_000, maxReports = 10, maxWorkMs = 1000 } = {}) {
  /** The oldest first. */
  const reports: { startMs: number; workMs: number }[] = [];

  return {
    /** Runs `explain` and returns its report; at a limit, returns undefined without running it. */
    spend<Report>(explain: () => Report): Report | undefined {
      const startMs = performance.now();
      while (startMs - (reports[0]?.startMs ?? startMs) >= windowMs) reports.shift();
      const spentMs = reports.reduce((sum, { workMs }) => sum + workMs, 0);
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
