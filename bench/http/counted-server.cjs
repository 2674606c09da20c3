"use strict";
/**
 * A server with a receiver that ends after some webhook requests; prints its port:
 *
 * DIST=<build> AUTH_TOKEN=… PUBLIC_URL=… node counted-server.cjs <count> [observer]
 */
const { subscribe } = require("node:diagnostics_channel");
const http = require("node:http");

const { DIST, AUTH_TOKEN: authToken, PUBLIC_URL: publicUrl } = process.env;
const { pushWebhooks } = require(DIST);

/** Observers of a receiver that an app may have. */
const OBSERVERS = {
  nobody() {},
  channels() {
    const ends = ["start", "end", "asyncStart", "asyncEnd", "error"];
    const traces = ["receive", "handle"].flatMap((name) => ends.map((end) => `${name}:${end}`));
    for (const name of ["received", "handled"])
      subscribe(`express-push-verification:${name}`, () => {});
    for (const name of traces) subscribe(`tracing:express-push-verification:${name}`, () => {});
  },
  "otel-without-sdk"() {
    require(`${DIST}/otel`).instrumentPushWebhooks();
  },
  otel() {
    const { metrics } = require("@opentelemetry/api");
    const meters = require("@opentelemetry/sdk-metrics");
    const sdk = require("@opentelemetry/sdk-trace-node");
    const exporter = new sdk.InMemorySpanExporter();
    const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)];
    new sdk.NodeTracerProvider({ spanProcessors }).register();
    const reader = new meters.PeriodicExportingMetricReader({
      exporter: new meters.InMemoryMetricExporter(meters.AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 3_600_000,
    });
    metrics.setGlobalMeterProvider(new meters.MeterProvider({ readers: [reader] }));
    require(`${DIST}/otel`).instrumentPushWebhooks();
  },
};

const [count, observer = "nobody"] = process.argv.slice(2);
OBSERVERS[observer]();
const push = pushWebhooks({ authToken, publicUrl });
push.on("challenge.approved", () => {});
let left = Number(count);
const server = http.createServer((req, res) => {
  res.once("finish", () => {
    if (res.statusCode !== 200) throw new Error(`The response was ${res.statusCode}.`);
    if (--left === 0) process.exit();
  });
  push(req, res);
});
// On a busy machine, a client may be idle for longer than the 5 s of the default.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
