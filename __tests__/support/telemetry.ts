/** OpenTelemetry of this process, with exporters in memory. */
import { context, metrics, propagation, trace, type Attributes } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { instrumentPushWebhooks } from "express-push-verification/otel";

export function startTelemetry() {
  const spans = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meters);
  const end = instrumentPushWebhooks();
  const list = () =>
    (exporter.getMetrics().at(-1)?.scopeMetrics ?? []).flatMap((scope) => scope.metrics);
  return {
    spans: () => spans.getFinishedSpans(),
    /** The points of each metric by its name. */
    async readMetrics(): Promise<Record<string, { attributes: Attributes; value: unknown }[]>> {
      await meters.forceFlush();
      return Object.fromEntries(list().map((one) => [one.descriptor.name, one.dataPoints]));
    },
    units: () => Object.fromEntries(list().map(({ descriptor: { name, unit } }) => [name, unit])),
    async stop() {
      end();
      await provider.shutdown();
      await meters.shutdown();
      for (const api of [trace, context, propagation, metrics]) api.disable();
    },
  };
}
