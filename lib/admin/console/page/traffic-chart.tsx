import { useState } from "preact/hooks";
import type { Series } from "../console-view";
import { send } from "./api";
import { LoadedValue, Select } from "./blocks";
import { formatCount, formatDate } from "./format";
import { live } from "./live";
import { replacePlace } from "./route";
import { createLoader } from "./store";

const REFRESH_MS = 15_000;

const statistics = createLoader(() => send<Series[]>("GET", "console/statistics"));

/** Requests over time. */
export function TrafficChart() {
  const [index, setIndex] = useState("0");
  return (
    <div class="panel">
      <div class="panel-head">
        <Select
          label="Period of the chart"
          value={index}
          options={{ 0: "Last hour", 1: "Last day" }}
          onChange={({ currentTarget }) => setIndex(currentTarget.value)}
        />
      </div>
      <LoadedValue loader={statistics} what="chart" refreshMs={REFRESH_MS}>
        {(series) => {
          const shown = series[Number(index)];
          return shown && <Bars {...shown} />;
        }}
      </LoadedValue>
    </div>
  );
}

function Bars({ accepted, bad, startMs, stepMs }: Series) {
  const steps = accepted.map((good, x) => {
    const wrong = bad[x] ?? 0;
    const fromMs = startMs + x * stepMs;
    const text = `${formatDate(fromMs)}: ${formatCount(good)} accepted, ${formatCount(wrong)} rejected or failed`;
    return { good, wrong, text, time: `${fromMs}-${fromMs + stepMs}` };
  });
  const most = Math.max(1, ...steps.map(({ good, wrong }) => good + wrong));
  const startedMs = live.value.totals?.sinceMs ?? 0;
  return (
    <>
      <svg viewBox={`0 0 ${steps.length} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {steps.map(({ good, wrong, text, time }, x) => (
          <g onClick={() => replacePlace({ query: new URLSearchParams({ time }) })}>
            <title>{text}</title>
            <rect class="hit" x={x} width={1} height={most} />
            <rect class="good" x={x + 0.1} y={most - good} width={0.8} height={good} />
            <rect class="bad" x={x + 0.1} y={most - good - wrong} width={0.8} height={wrong} />
          </g>
        ))}
        {startedMs > startMs && (
          <g>
            <title>This process started {formatDate(startedMs)}</title>
            <rect class="info" x={(startedMs - startMs) / stepMs} width={0.15} height={most} />
          </g>
        )}
      </svg>
      <div class="axis">
        <small>{formatDate(startMs)}</small>
        <small>the highest bar: {formatCount(most)}</small>
        <small>{formatDate(startMs + steps.length * stepMs)}</small>
      </div>
      <ul class="unseen" aria-label="Requests over time">
        {steps.map(({ good, wrong, text }) => good + wrong > 0 && <li>{text}</li>)}
      </ul>
    </>
  );
}
