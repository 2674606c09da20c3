import { createExplainBudget } from "../../lib/receiver/explain-budget";

const limits = { windowMs: 60_000, maxReports: 3, maxWorkMs: 100 };
let nowMs = 0;

beforeEach(() => void jest.spyOn(performance, "now").mockImplementation(() => nowMs));
afterEach(() => jest.restoreAllMocks());

/** Runs for this many milliseconds and returns them. */
const work = (durationMs: number) => () => {
  nowMs += durationMs;
  return durationMs;
};

describe("createExplainBudget", () => {
  it("runs maxReports reports in a window, and no more", () => {
    const { spend } = createExplainBudget(limits);
    const explain = jest.fn(() => "report");
    expect([1, 2, 3, 4, 5].map(() => spend(explain))).toEqual([
      "report",
      "report",
      "report",
      undefined,
      undefined,
    ]);
    expect(explain).toHaveBeenCalledTimes(3);
  });

  it("starts no report once maxWorkMs is spent", () => {
    const { spend } = createExplainBudget(limits);
    expect([99, 1, 1].map((durationMs) => spend(work(durationMs)))).toEqual([99, 1, undefined]);
  });

  it("counts each report until it is windowMs old", () => {
    const { spend } = createExplainBudget(limits);
    const startMs = nowMs;
    for (const atMs of [0, 20_000, 40_000]) {
      nowMs = startMs + atMs;
      expect(spend(work(0))).toBe(0);
    }
    nowMs = startMs + 59_999;
    expect(spend(work(0))).toBeUndefined();
    nowMs = startMs + 60_000;
    expect(spend(work(0))).toBe(0);
    expect(spend(work(0))).toBeUndefined();
    nowMs = startMs + 80_000;
    expect(spend(work(0))).toBe(0);
  });

  it("allows 10 reports and 300 ms by default", () => {
    const { spend } = createExplainBudget();
    const reports = Array.from({ length: 11 }, () => spend(work(0)));
    expect(reports).toEqual([...Array<number>(10).fill(0), undefined]);
    const slow = createExplainBudget();
    expect([299, 1, 1].map((ms) => slow.spend(work(ms)))).toEqual([299, 1, undefined]);
    nowMs += 60_000;
    expect([spend(work(0)), slow.spend(work(0))]).toEqual([0, 0]);
  });

  it("counts the work of a report that throws", () => {
    const { spend } = createExplainBudget(limits);
    const fail = () => {
      nowMs += 100;
      throw new RangeError("too deep");
    };
    expect(() => spend(fail)).toThrow(RangeError);
    expect(spend(work(0))).toBeUndefined();
  });
});
