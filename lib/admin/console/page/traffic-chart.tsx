import { useState } from "preact/hooks";
import type { Series, Statistics } from "../console-view";
import { send } from "./api";
import { Cells, type Column, Select, Table } from "./blocks";
import { formatCount, formatDate, formatDuration } from "./format";
import { createLoader, useEvery, useStore } from "./store";

const REFRESH_MS = 15_000;
const HEIGHT = 40;

const statistics = createLoader(() => send<Statistics>("GET", "console/statistics"));

/** Requests over time, and how long they took. */
export function TrafficChart() {
  const [index, setIndex] = useState("0");
  const { value } = useStore(statistics);
  useEvery(REFRESH_MS, statistics.reload);
  const series = value?.series[Number(index)];
  if (value === undefined || series === undefined) return null;
  return (
    <div class="panel chart">
      <div class="panel-head">
        <Select
          label="Period of the chart"
          value={index}
          options={[
            ["0", "Last hour"],
            ["1", "Last day"],
          ]}
          onChange={({ currentTarget }) => setIndex(currentTarget.value)}
        />
        {value.byType.map(({ type, p50Ms, p95Ms }) => (
          <small key={type}>
            {type} p50 {formatDuration(p50Ms)}, p95 {formatDuration(p95Ms)}
          </small>
        ))}
      </div>
      <Bars {...series} />
    </div>
  );
}

/** One bar: from when on, and how many requests were accepted and how many were not. */
type Step = readonly [fromMs: number, accepted: number, bad: number];

const COLUMNS: readonly Column<Step>[] = [
  ["from", "From", ([fromMs]) => formatDate(fromMs)],
  ["accepted", "Accepted", ([, accepted]) => formatCount(accepted)],
  ["bad", "Rejected or failed", ([, , bad]) => formatCount(bad)],
];

function Bars({ accepted, bad, startMs, stepMs }: Series) {
  const steps = accepted.map((count, index): Step => [
    startMs + index * stepMs,
    count,
    bad[index] ?? 0,
  ]);
  const most = Math.max(1, ...steps.map(([, good, rejected]) => good + rejected));
  return (
    <>
      <svg viewBox={`0 0 ${steps.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {steps.map(([, ...counts], x) => {
          let y = HEIGHT;
          return counts.map((count, index) => {
            const height = (HEIGHT * count) / most;
            y -= height;
            const tone = index === 0 ? "good" : "bad";
            return <rect class={tone} x={x + 0.1} y={y} width={0.8} height={height} />;
          });
        })}
      </svg>
      <Table class="unseen" label="Requests over time" columns={COLUMNS}>
        {steps
          .filter(([, good, rejected]) => good + rejected > 0)
          .map((step) => (
            <tr key={step[0]}>
              <Cells columns={COLUMNS} row={step} />
            </tr>
          ))}
      </Table>
    </>
  );
}
