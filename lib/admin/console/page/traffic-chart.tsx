import { useState } from "preact/hooks";
import type { ShownHistory } from "../console-view";
import { Select, Time } from "./blocks";
import { formatCount, formatDate } from "./format";
import { linkToRequests, replacePlace } from "./route";

const MINUTE_MS = 60_000;
/** The newest bars, and the minutes of each. */
const PERIODS = [
  { count: 60, minutes: 1 },
  { count: 96, minutes: 15 },
];
const MAX_BUILDS = 5;

/** Requests over time, with a mark where another build begins. */
export function TrafficChart({ minutes: of, builds }: ShownHistory) {
  const [index, setIndex] = useState("0");
  const { count, minutes } = PERIODS[Number(index)] ?? { count: 0, minutes: 1 };
  const length = count * minutes;
  const startMs = of.startMs + (of.accepted.length - length) * MINUTE_MS;
  const stepMs = minutes * MINUTE_MS;
  const sum = (values: readonly number[], x: number) =>
    values
      .slice(values.length - length)
      .slice(x * minutes, (x + 1) * minutes)
      .reduce((all, one) => all + one, 0);
  const steps = Array.from({ length: count }, (_, x) => {
    const [good, wrong] = [sum(of.accepted, x), sum(of.bad, x)];
    const fromMs = startMs + x * stepMs;
    const text = `${formatDate(fromMs)}: ${formatCount(good)} accepted, ${formatCount(wrong)} rejected or failed`;
    return { good, wrong, text, time: `${fromMs}-${fromMs + stepMs}` };
  });
  const most = Math.max(1, ...steps.map(({ good, wrong }) => good + wrong));
  const named = builds.filter(({ build }) => build !== undefined);
  return (
    <div class="panel chart">
      <div class="panel-head">
        <Select
          label="Period of the chart"
          value={index}
          options={{ 0: "Last hour", 1: "Last day" }}
          onChange={({ currentTarget }) => setIndex(currentTarget.value)}
        />
        <small>
          {named
            .slice(-MAX_BUILDS)
            .map(({ build = "", atMs }, at) => [
              at === 0 ? "Builds: " : "; ",
              <a href={linkToRequests({ build })}>{build}</a>,
              " since ",
              <Time atMs={atMs} />,
            ])}
        </small>
      </div>
      <svg viewBox={`0 0 ${count} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {steps.map(({ good, wrong, text, time }, x) => (
          <g onClick={() => replacePlace({ query: new URLSearchParams({ time }) })}>
            <title>{text}</title>
            <rect class="hit" x={x} width={1} height={most} />
            <rect class="good" x={x + 0.1} y={most - good} width={0.8} height={good} />
            <rect class="bad" x={x + 0.1} y={most - good - wrong} width={0.8} height={wrong} />
          </g>
        ))}
        {named.map(({ build, atMs }) => (
          <rect class="mark" x={(atMs - startMs) / stepMs} width={0.15} height={most}>
            <title>{`Build ${build} since ${formatDate(atMs)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="axis">
        <small>{formatDate(startMs)}</small>
        <small>the highest bar: {formatCount(most)}</small>
        <small>{formatDate(startMs + count * stepMs)}</small>
      </div>
      <ul class="unseen" aria-label="Requests over time">
        {steps.map(({ good, wrong, text }) => good + wrong > 0 && <li>{text}</li>)}
      </ul>
    </div>
  );
}
