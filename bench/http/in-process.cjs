"use strict";
/**
 * Good webhook requests through a receiver in this process, without a socket:
 *
 * DIST=<build> AUTH_TOKEN=… PUBLIC_URL=… node in-process.cjs <file of signed requests> <count> [observer]
 */
const { subscribe } = require("node:diagnostics_channel");
const { readFileSync } = require("node:fs");
const http = require("node:http");
const { Socket } = require("node:net");

const { DIST, AUTH_TOKEN: authToken, PUBLIC_URL: publicUrl } = process.env;
const { pushWebhooks } = require(DIST);
const CONTENT_TYPE = "application/x-www-form-urlencoded";

const push = pushWebhooks({ authToken, publicUrl });
push.on("challenge.approved", () => {});
const socket = new Socket().setMaxListeners(0);
socket.server = http.createServer();

async function receive({ signature, body }) {
  const req = new http.IncomingMessage(socket);
  Object.assign(req, { method: "POST", url: "/push", httpVersion: "1.1" });
  const length = String(Buffer.byteLength(body));
  const headers = ["content-type", CONTENT_TYPE, "content-length", length];
  headers.push("x-service-signature", signature);
  // As the parser of node:http does.
  // oxlint-disable-next-line no-underscore-dangle -- its name in node:http
  req._addHeaderLines(headers, headers.length);
  const res = new http.ServerResponse(req);
  const ended = new Promise((resolve) => {
    res.end = () => {
      resolve();
      res.emit("close");
    };
  });
  push(req, res);
  req.push(Buffer.from(body));
  req.push(null);
  req.complete = true;
  await ended;
  if (res.statusCode !== 200) throw new Error(`The response was ${res.statusCode}.`);
}

/** What an app may have that watches a receiver. */
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

async function main(file, count, observer = "nobody") {
  OBSERVERS[observer]();
  const requests = JSON.parse(readFileSync(file, "utf8"));
  for (const request of requests.slice(0, Number(count))) {
    await receive(request);
    // A server returns to its event loop between two requests.
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Without the deadlines of the receiver.
  process.exit();
}

void main(...process.argv.slice(2));
