import type { ShownHistory } from "../shown-history";
import { Time } from "./blocks";
import { formatCount, formatDate } from "./format";
import { linkToRequests, replacePlace } from "./route";

const BAR_MS = 15 * 60_000;
const MAX_BUILDS = 5;

type Bar = ShownHistory["bars"][number];

const sum = ({ accepted, bad }: Bar) => accepted + bad;

const describe = ({ fromMs, accepted, bad }: Bar) =>
  `${formatDate(fromMs)}: ${formatCount(accepted)} accepted, ${formatCount(bad)} rejected or failed`;

const show = (fromMs: number) =>
  replacePlace({ query: new URLSearchParams({ time: `${fromMs}-${fromMs + BAR_MS}` }) });

/** The requests of the last day, with a mark at each build. */
export function TrafficChart({ bars, builds }: ShownHistory) {
  const most = Math.max(1, ...bars.map(sum));
  const startMs = bars[0]?.fromMs ?? 0;
  const named = builds.filter(({ build }) => build !== undefined);
  return (
    <div class="panel chart">
      <svg viewBox={`0 0 ${bars.length} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map((bar, x) => (
          <g onClick={() => show(bar.fromMs)}>
            <title>{describe(bar)}</title>
            <rect class="hit" x={x} width={1} height={most} />
            <rect class="good" x={x} y={most - bar.accepted} width={0.8} height={bar.accepted} />
            <rect class="bad" x={x} y={most - sum(bar)} width={0.8} height={bar.bad} />
          </g>
        ))}
        {named.map(({ build, atMs }) => (
          <rect class="mark" x={(atMs - startMs) / BAR_MS} width={0.15} height={most}>
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
        {bars.map((bar) => sum(bar) > 0 && <li>{describe(bar)}</li>)}
      </ul>
    </div>
  );
}
