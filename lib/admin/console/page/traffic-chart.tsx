import { useState } from "preact/hooks";
import type { Series } from "../console-view";
import { Select } from "./blocks";
import { live } from "./changes";
import { formatCount, formatDate } from "./format";
import { replacePlace } from "./route";

/** Requests over time. */
export function TrafficChart() {
  const [index, setIndex] = useState("0");
  const shown = live.value.series[Number(index)];
  return (
    <div class="panel chart">
      <div class="panel-head">
        <Select
          label="Period of the chart"
          value={index}
          options={{ 0: "Last hour", 1: "Last day" }}
          onChange={({ currentTarget }) => setIndex(currentTarget.value)}
        />
      </div>
      {shown && <Bars {...shown} />}
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
