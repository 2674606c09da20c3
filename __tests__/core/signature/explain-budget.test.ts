import { createExplainBudget } from "../../../lib/core/signature/explain-budget";

const limits = { windowMs: 60_000, maxReports: 3, maxWorkMs: 100 };
let nowMs = 0;

beforeEach(() => void jest.spyOn(performance, "now").mockImplementation(() => nowMs));
afterEach(() => jest.restoreAllMocks());

const work = (durationMs: number) => () => {
  nowMs += durationMs;
  return durationMs;
};

describe("createExplainBudget", () => {
  it("starts no report once 1 s is spent, within 60 s", () => {
    const { spend } = createExplainBudget();
    const startMs = nowMs;
    expect([999, 1, 1].map((durationMs) => spend(work(durationMs)))).toEqual([999, 1, undefined]);
    nowMs = startMs + 59_999;
    expect(spend(work(0))).toBeUndefined();
    nowMs = startMs + 60_000;
    expect(spend(work(0))).toBe(0);
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
