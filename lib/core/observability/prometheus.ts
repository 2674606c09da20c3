import { subscribe } from "node:diagnostics_channel";
import { isPushEventType } from "../event/event";
import { DIAGNOSTIC_NAMES, type Diagnostics } from "./diagnostics";

/** In seconds. */
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 8];

interface Histogram {
  /** How many durations are within each limit. */
  counts: number[];
  count: number;
  sum: number;
}

/**
 * Counts the diagnostics messages of this process, for Prometheus. Call it once.
 *
 * @example
 * const readMetrics = collectMetrics();
 * app.get("/metrics", async (_req, res) => {
 *   res.type("text/plain; version=0.0.4").send(readMetrics(await queue.stats()));
 * });
 *
 * @returns the function that returns the metrics in the text format of Prometheus, with the counts of
 *   `queue.stats()` if it is given them.
 */
export function collectMetrics(): (stats?: object) => string {
  const totals = new Map<string, number>();
  const durations = new Map<string, Histogram>();
  for (const name of DIAGNOSTIC_NAMES) {
    subscribe(`express-push-verification:${name}`, (message) => {
      const { type, code = "", durationMs } = message as Partial<Diagnostics["failed"]>;
      // An account may sign any text as a type.
      const known = type === undefined ? "" : isPushEventType(type) ? type : "other";
      const labels = `what="${name}",code="${code}",type="${known}"`;
      totals.set(labels, (totals.get(labels) ?? 0) + 1);
      if (durationMs !== undefined) observe(`what="${name}"`, durationMs / 1_000);
    });
  }

  function observe(labels: string, seconds: number): void {
    const found = durations.get(labels) ?? { counts: BUCKETS.map(() => 0), count: 0, sum: 0 };
    durations.set(labels, found);
    for (const [index, limit] of BUCKETS.entries()) {
      if (seconds <= limit) found.counts[index] = (found.counts[index] ?? 0) + 1;
    }
    found.count++;
    found.sum += seconds;
  }

  return (stats = {}) => {
    const lines = [
      "# HELP push_webhooks_total Webhook requests and events by result.",
      "# TYPE push_webhooks_total counter",
      ...Array.from(totals, ([labels, total]) => `push_webhooks_total{${labels}} ${total}`),
      "# HELP push_webhooks_seconds Time to reject, to store or to handle.",
      "# TYPE push_webhooks_seconds histogram",
      ...Array.from(durations, describeHistogram).flat(),
      ...Object.entries(stats).flatMap(describeGauge),
    ];
    return `${lines.join("\n")}\n`;
  };
}

function describeHistogram([labels, { counts, count, sum }]: [string, Histogram]): string[] {
  const name = "push_webhooks_seconds";
  return [
    ...BUCKETS.map((limit, index) => `${name}_bucket{${labels},le="${limit}"} ${counts[index]}`),
    `${name}_bucket{${labels},le="+Inf"} ${count}`,
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${count}`,
  ];
}

function describeGauge([key, value]: [string, unknown]): string[] {
  if (typeof value !== "number") return [];
  const [unit, amount] = key.endsWith("Ms") ? ["_seconds", value / 1_000] : ["", value];
  const words = key.replace(/Ms$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const name = `push_webhooks_queue_${words}${unit}`;
  return [`# TYPE ${name} gauge`, `${name} ${amount}`];
}
