import { useState } from "preact/hooks";
import type { Series, Statistics } from "../console-view";
import { send } from "./api";
import { Cells, type Column, LoadedValue, Select, Table } from "./blocks";
import { formatCount, formatDate } from "./format";
import { live } from "./live";
import { replacePlace } from "./route";
import { createLoader } from "./store";

const REFRESH_MS = 15_000;
const HEIGHT = 40;

const statistics = createLoader(() => send<Statistics>("GET", "console/statistics"));

/** Requests over time. */
export function TrafficChart() {
  const [index, setIndex] = useState("0");
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
      </div>
      <LoadedValue loader={statistics} failed="The chart could not be read." refreshMs={REFRESH_MS}>
        {({ series }) => {
          const shown = series[Number(index)];
          return shown && <Bars {...shown} />;
        }}
      </LoadedValue>
    </div>
  );
}

/** One bar. */
interface Step {
  fromMs: number;
  accepted: number;
  bad: number;
}

const COLUMNS: readonly Column<Step>[] = [
  { name: "from", title: "From", width: "1fr", show: ({ fromMs }) => formatDate(fromMs) },
  {
    name: "accepted",
    title: "Accepted",
    width: "1fr",
    show: ({ accepted }) => formatCount(accepted),
  },
  { name: "bad", title: "Rejected or failed", width: "1fr", show: ({ bad }) => formatCount(bad) },
];

function Bars({ accepted, bad, startMs, stepMs }: Series) {
  const steps = accepted.map((count, index): Step => ({
    fromMs: startMs + index * stepMs,
    accepted: count,
    bad: bad[index] ?? 0,
  }));
  const most = Math.max(1, ...steps.map((step) => step.accepted + step.bad));
  const endMs = startMs + steps.length * stepMs;
  const startedMs = live.value.totals?.sinceMs ?? 0;
  const select = (fromMs: number) =>
    replacePlace({ query: new URLSearchParams({ time: `${fromMs}-${fromMs + stepMs}` }) });
  return (
    <>
      <svg viewBox={`0 0 ${steps.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {steps.map((step, x) => {
          const good = (HEIGHT * step.accepted) / most;
          const wrong = (HEIGHT * step.bad) / most;
          return (
            <g onClick={() => select(step.fromMs)}>
              <title>
                {formatDate(step.fromMs)}: {formatCount(step.accepted)} accepted,{" "}
                {formatCount(step.bad)} rejected or failed
              </title>
              <rect class="hit" x={x} width={1} height={HEIGHT} />
              <rect class="good" x={x + 0.1} y={HEIGHT - good} width={0.8} height={good} />
              <rect class="bad" x={x + 0.1} y={HEIGHT - good - wrong} width={0.8} height={wrong} />
            </g>
          );
        })}
        {startedMs > startMs && (
          <g>
            <title>This process started {formatDate(startedMs)}</title>
            <rect class="info" x={(startedMs - startMs) / stepMs} width={0.15} height={HEIGHT} />
          </g>
        )}
      </svg>
      <div class="axis">
        <small>{formatDate(startMs)}</small>
        <small>the highest bar: {formatCount(most)}</small>
        <small>{formatDate(endMs)}</small>
      </div>
      <Table class="unseen" label="Requests over time" columns={COLUMNS}>
        {steps
          .filter((step) => step.accepted + step.bad > 0)
          .map((step) => (
            <tr role="row" key={step.fromMs}>
              <Cells columns={COLUMNS} row={step} />
            </tr>
          ))}
      </Table>
    </>
  );
}
