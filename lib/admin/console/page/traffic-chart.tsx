import type { ShownHistory } from "../shown-history";
import { Time } from "./blocks";
import { formatCount, formatDate } from "./format";
import { linkToRequests, place, replacePlace } from "./route";

const MINUTE_MS = 60_000;
const MAX_BUILDS = 5;

/** Adds up the minutes of each bar, for the last bars. */
function listBars(of: ShownHistory["minutes"], minutes: number, count: number) {
  const first = of.accepted.length - count * minutes;
  return Array.from({ length: count }, (_, index) => {
    const from = first + index * minutes;
    const sum = (counts: readonly number[]) =>
      counts.slice(from, from + minutes).reduce((all, one) => all + one, 0);
    const [good, wrong] = [sum(of.accepted), sum(of.bad)];
    const fromMs = of.startMs + from * MINUTE_MS;
    const text = `${formatDate(fromMs)}: ${formatCount(good)} accepted, ${formatCount(wrong)} rejected or failed`;
    return { good, wrong, fromMs, text };
  });
}

/** Requests of the last day, or of the last hour when the list shows no more; with a mark at each build. */
export function TrafficChart({ minutes: of, builds }: ShownHistory) {
  const isHour = ["5", "60"].includes(place.value.query.get("time") ?? "");
  const [minutes, count] = isHour ? [1, 60] : [15, 96];
  const stepMs = minutes * MINUTE_MS;
  const bars = listBars(of, minutes, count);
  const most = Math.max(1, ...bars.map(({ good, wrong }) => good + wrong));
  const startMs = bars[0]?.fromMs ?? 0;
  const named = builds.filter(({ build }) => build !== undefined);
  const show = (fromMs: number) =>
    replacePlace({ query: new URLSearchParams({ time: `${fromMs}-${fromMs + stepMs}` }) });
  return (
    <div class="panel chart">
      <svg viewBox={`0 0 ${count} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ good, wrong, fromMs, text }, x) => (
          <g onClick={() => show(fromMs)}>
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
      <p class="axis">
        <small>{formatDate(startMs)}</small>
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
        <small>the highest bar: {formatCount(most)}</small>
      </p>
      <ul class="unseen" aria-label="Requests over time">
        {bars.map(({ good, wrong, text }) => good + wrong > 0 && <li>{text}</li>)}
      </ul>
    </div>
  );
}
