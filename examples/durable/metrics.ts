/** What the package publishes on its diagnostics channels, as Prometheus reads it. */
import { subscribe } from "node:diagnostics_channel";
import type { Diagnostics } from "express-push-verification";
import { Counter, Histogram, Registry } from "prom-client";

const CHANNELS = [
  "received",
  "rejected",
  "held",
  "stored",
  "duplicate",
  "conflict",
  "handled",
  "unhandled",
  "failed",
  "dead-lettered",
] as const satisfies readonly (keyof Diagnostics)[];

export function collectMetrics(): Registry {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: "push_webhooks_total",
    help: "What became of calls and events",
    labelNames: ["what", "code", "type"],
    registers,
  });
  const durations = new Histogram({
    name: "push_webhooks_seconds",
    help: "How long it took to refuse, to store or to handle",
    labelNames: ["what"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 8],
    registers,
  });
  for (const what of CHANNELS) {
    subscribe(`express-push-verification:${what}`, (message) => {
      const { code = "", type = "", durationMs } = message as Partial<Diagnostics["failed"]>;
      calls.inc({ what, code, type });
      if (durationMs !== undefined) durations.observe({ what }, durationMs / 1000);
    });
  }
  return registry;
}
