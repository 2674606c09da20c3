/** Turns the messages of the diagnostics channels into metrics of Prometheus. */
import { subscribe } from "node:diagnostics_channel";
import type { Diagnostics } from "express-push-verification";
import { Counter, Histogram, Registry } from "prom-client";

/** The names of the channels; the type check fails when a channel is missing. */
const CHANNELS: Record<keyof Diagnostics, true> = {
  received: true,
  rejected: true,
  retrying: true,
  stored: true,
  duplicate: true,
  conflict: true,
  handled: true,
  unhandled: true,
  failed: true,
  "dead-lettered": true,
};

export function collectMetrics(): Registry {
  const registry = new Registry();
  const registers = [registry];
  const messages = new Counter({
    name: "push_webhooks_total",
    help: "Webhook requests and events by result",
    labelNames: ["what", "code", "type"],
    registers,
  });
  const durations = new Histogram({
    name: "push_webhooks_seconds",
    help: "Time to reject, to store or to handle, in seconds",
    labelNames: ["what"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 8],
    registers,
  });
  for (const what of Object.keys(CHANNELS)) {
    subscribe(`express-push-verification:${what}`, (message) => {
      const { code = "", type = "", durationMs } = message as Partial<Diagnostics["failed"]>;
      messages.inc({ what, code, type });
      if (durationMs !== undefined) durations.observe({ what }, durationMs / 1000);
    });
  }
  return registry;
}
