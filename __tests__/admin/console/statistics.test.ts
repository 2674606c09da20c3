import type { RequestRow } from "../../../lib/admin/console/console-view";
import { createStatistics } from "../../../lib/admin/console/statistics";

const NOW_MS = Date.UTC(2026, 2, 5, 12, 30);
const MINUTE_MS = 60_000;

const row = (fields: Partial<RequestRow>) =>
  ({ atMs: NOW_MS, status: 200, durationMs: 1, type: "factor.created", ...fields }) as RequestRow;

describe("createStatistics", () => {
  it("counts accepted and bad requests by the minute and by the hour", () => {
    const statistics = createStatistics();
    for (const fields of [
      {},
      { status: 403, type: undefined },
      { atMs: NOW_MS - 59 * MINUTE_MS },
      { atMs: NOW_MS - 61 * MINUTE_MS },
    ])
      statistics.add(row(fields));
    const [hour, day] = statistics.read(NOW_MS).series;
    expect([hour?.accepted.length, day?.accepted.length]).toEqual([60, 24]);
    expect([hour?.accepted[0], hour?.accepted[59], hour?.bad[59]]).toEqual([1, 1, 1]);
    expect([day?.accepted.slice(-2), day?.bad.at(-1)]).toEqual([[2, 1], 1]);
    const [later] = statistics.read(NOW_MS + 60 * MINUTE_MS).series;
    expect(later?.accepted).toEqual(Array.from({ length: 60 }, () => 0));
  });

  it("finds percentiles by type, each up to 10 % too high, and joins unknown types", () => {
    const statistics = createStatistics();
    for (let ms = 1; ms <= 100; ms++) statistics.add(row({ durationMs: ms }));
    statistics.add(row({ type: "invented.1", durationMs: 0 }));
    statistics.add(row({ type: "invented.2", durationMs: 1e9 }));
    const [known, others, ...more] = statistics.read(NOW_MS).byType;
    expect(known).toMatchObject({ type: "factor.created", count: 100 });
    expect(known?.p50Ms).toBeGreaterThanOrEqual(50);
    expect(known?.p50Ms).toBeLessThan(55);
    expect(known?.p95Ms).toBeGreaterThanOrEqual(95);
    expect(known?.p95Ms).toBeLessThan(104.5);
    expect([others?.type, others?.count, more]).toEqual(["other types", 2, []]);
  });
});
