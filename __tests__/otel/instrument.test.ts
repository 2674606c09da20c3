import { channel } from "node:diagnostics_channel";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { pushWebhooks } from "express-push-verification";
import { instrumentPushWebhooks } from "express-push-verification/otel";
import {
  publish,
  trace as traceOperation,
  TRACE_NAMES,
} from "../../lib/core/observability/diagnostics";
import { ClaimingPool } from "../../lib/durable/worker";
import { silent } from "../support/receivers";
import { startTelemetry } from "../support/telemetry";
import { until } from "../support/waiting";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../support/webhook-requests";

const PREFIX = "express-push-verification:";
let telemetry: ReturnType<typeof startTelemetry>;
let fails: () => void;

const push = pushWebhooks({
  authToken: AUTH_TOKEN,
  publicUrl: PUBLIC_URL,
  name: "shop",
  logger: silent,
}).onAny(() => {
  trace.getTracer("app").startSpan("of the app").end();
  fails();
});

beforeEach(() => {
  telemetry = startTelemetry();
  fails = () => {};
});
afterEach(() => telemetry.stop());

const noResult = async () => {};
const send = async (request = eventRequest("challenge.approved"), path = request.path) =>
  (await push.fetch(toWebRequest({ ...request, path }))).status;

it("the spans of the app in a handler are children of handle, which is one of receive", async () => {
  expect(await send()).toBe(200);
  const [app, handle, receive] = telemetry.spans();
  expect(app).toMatchObject({ name: "of the app", parentSpanContext: handle?.spanContext() });
  expect(handle).toMatchObject({
    name: "handle challenge.approved",
    parentSpanContext: receive?.spanContext(),
    kind: SpanKind.INTERNAL,
    attributes: {
      "messaging.message.id": expect.any(String) as string,
      "push_webhooks.event.type": "challenge.approved",
      "push_webhooks.receiver": "shop",
      "push_webhooks.attempt": 1,
    },
  });
  expect(receive).toMatchObject({
    name: "POST /push/events",
    kind: SpanKind.SERVER,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      "http.request.method": "POST",
      "http.route": "/push/events",
      "http.response.status_code": 200,
      "url.path": "/push/events",
      "url.scheme": "https",
      "push_webhooks.receiver": "shop",
    },
  });
});

it("receive is internal and not measured below a span of the HTTP server", async () => {
  await trace.getTracer("http").startActiveSpan("POST", async (server) => {
    await send();
    server.end();
  });
  const receive = telemetry.spans().find(({ name }) => name === "POST /push/events");
  expect(receive?.kind).toBe(SpanKind.INTERNAL);
  expect((await telemetry.readMetrics())["http.server.request.duration"] ?? []).toEqual([]);
});

it("a worker that waits for events is in no trace", async () => {
  const asked: string[] = [];
  /** A store whose client makes a span of each statement. */
  const ask = (name: string) => async () => {
    trace.getTracer("client").startSpan(name).end();
    asked.push(name);
    return [];
  };
  const storage = { claim: ask("claim"), beat: ask("beat"), erase: ask("erase") };
  const availability = { assertOpen() {}, watchWrite: <T>(write: T) => write, isOver: () => false };
  const pool = new ClaimingPool(storage as never, { availability, lookForEvents() {} } as never);
  pool.startWorker({ concurrency: 1 } as never).look?.();
  await until(() => asked.includes("claim"));
  pool.stop();
  expect(asked.toSorted()).toEqual(["beat", "claim"]);
  expect(telemetry.spans()).toEqual([]);
});

it("a failed handler makes error spans with only the code of its error", async () => {
  fails = () => {
    throw new Error("user-7f3a-22");
  };
  expect(await send()).toBe(500);
  const [, handle, receive] = telemetry.spans();
  for (const span of [handle, receive]) {
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes["error.type"]).toBe("HANDLER_FAILED");
    expect(span?.events).toEqual([]);
  }
});

it("adds no names of spans and metrics for requests of untrusted clients", async () => {
  const request = eventRequest("challenge.approved", {}, { authToken: "other" });
  expect(await send(request)).toBe(403);
  expect(await send(request, "/random/4711")).toBe(403);
  expect(await send({ ...request, method: "BREW" })).toBe(405);
  expect(telemetry.spans().map(({ name, status }) => [name, status.code])).toEqual([
    ["POST /push/events", SpanStatusCode.UNSET],
    ["POST", SpanStatusCode.UNSET],
    ["HTTP /push/events", SpanStatusCode.UNSET],
  ]);
  const points = (await telemetry.readMetrics())["http.server.request.duration"] ?? [];
  const rejected = {
    "http.request.method": "POST",
    "http.response.status_code": 403,
    "url.scheme": "https",
    "error.type": "SIGNATURE_MISMATCH",
  };
  expect(points.map(({ attributes }) => attributes)).toEqual([
    { ...rejected, "http.route": "/push/events" },
    { ...rejected, "http.route": undefined },
    {
      ...rejected,
      "http.request.method": "_OTHER",
      "http.response.status_code": 405,
      "http.route": "/push/events",
      "error.type": "METHOD_NOT_ALLOWED",
    },
  ]);
});

it("names a type that it does not know neither in a span nor in a metric", async () => {
  expect(await send(eventRequest("challenge.approved", { type: "signed.4711" }))).toBe(200);
  expect(telemetry.spans().map(({ name }) => name)).toEqual([
    "of the app",
    "handle",
    "POST /push/events",
  ]);
  for (const type of ["factor.created", "signed 4711"]) {
    publish("dead-lettered", () => ({ type, attempts: 8 }));
  }
  const points = (await telemetry.readMetrics())["push_webhooks.dead_letters"] ?? [];
  const types = points.map(({ attributes }) => attributes["push_webhooks.event.type"]);
  expect(types).toEqual(["factor.created", "_OTHER"]);
});

it("names the span of a request by its method", async () => {
  const methods = "CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE".split(" ");
  const request = { path: "/", route: undefined, scheme: "https", receiver: undefined };
  for (const method of methods)
    await traceOperation("receive", () => ({ ...request, method }), noResult);
  expect(telemetry.spans().map(({ name }) => name)).toEqual(methods);
});

const event = { queue: "q", type: "factor.created", uuid: "a", receiver: "shop" };
const details = {
  "messaging.message.id": "a",
  "push_webhooks.event.type": "factor.created",
  "push_webhooks.receiver": "shop",
};
const messagingOf = (name: string, type: string) => ({
  "messaging.system": "express_push_verification",
  "messaging.destination.name": "q",
  "messaging.operation.name": name,
  "messaging.operation.type": type,
});
const stored = messagingOf("store", "send");
const handled = messagingOf("handle", "process");

const store = (carrier: Record<string, string>, run: () => Promise<"new" | "duplicate">) =>
  traceOperation("store", () => ({ ...event, carrier }), run);
const handle = (carrier?: Record<string, string>) =>
  traceOperation("handle", () => ({ ...event, carrier, attempt: 2 }), noResult);

it("stores the trace with an event without the baggage, which may name a user", async () => {
  const baggage = propagation.createBaggage({ user: { value: "user-7f3a-22" } });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const remote = { traceId, spanId: "b7ad6b7169203331", traceFlags: 1 };
  const active = trace.setSpanContext(propagation.setBaggage(context.active(), baggage), remote);
  const carrier: Record<string, string> = {};
  await context.with(active, () =>
    store(carrier, async () => {
      expect(propagation.getActiveBaggage()).toBe(baggage);
      return "new";
    }),
  );
  expect(Object.keys(carrier)).toEqual(["traceparent"]);
  await handle(carrier);
  const [storing, handling] = telemetry.spans();
  expect(storing).toMatchObject({
    name: "store q",
    kind: SpanKind.PRODUCER,
    parentSpanContext: remote,
  });
  expect(storing?.attributes).toEqual({ ...stored, ...details });
  const { spanId } = storing!.spanContext();
  expect(handling).toMatchObject({
    name: "handle q",
    kind: SpanKind.CONSUMER,
    parentSpanContext: { traceId, spanId },
  });
  expect(handling?.attributes).toEqual({ ...handled, ...details, "push_webhooks.attempt": 2 });
});

it("handles an event that was stored without a trace in a trace of its own", async () => {
  await trace.getTracer("app").startActiveSpan("of another request", (other) => {
    other.end();
    return handle();
  });
  expect(telemetry.spans().at(-1)).toMatchObject({
    name: "handle q",
    parentSpanContext: undefined,
  });
});

it("reports metrics in the units of the semantic conventions", async () => {
  let nowMs = 5_000;
  const now = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  for (const result of ["new", "duplicate", new Error("down")] as const) {
    const storing = store({}, async () => {
      nowMs += 2_500;
      if (result instanceof Error) throw result;
      return result;
    });
    await Promise.allSettled([storing]);
  }
  now.mockRestore();
  await handle();
  expect(await send()).toBe(200);
  publish("dead-lettered", () => ({ type: "factor.created", attempts: 8 }));
  expect(telemetry.spans()[2]?.status.code).toBe(SpanStatusCode.ERROR);
  const metrics = await telemetry.readMetrics();
  expect(metrics["messaging.client.operation.duration"]).toMatchObject([
    { value: { count: 2, sum: 5 }, attributes: stored },
    { value: { count: 1, sum: 2.5 }, attributes: { ...stored, "error.type": "_OTHER" } },
  ]);
  const counted = (attributes: object) => [expect.objectContaining({ value: 1, attributes })];
  expect(metrics["messaging.client.sent.messages"]).toEqual(counted(stored));
  expect(metrics["messaging.client.consumed.messages"]).toEqual(counted(handled));
  // The boundaries of the semantic conventions.
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
  const units = Object.entries(telemetry.units());
  const durations = units.flatMap(([name, unit]) => (unit === "s" ? name : []));
  expect(durations).toHaveLength(3);
  for (const name of durations)
    expect(metrics[name]![0]).toMatchObject({ value: { buckets: { boundaries } } });
  expect(units.filter(([, unit]) => unit !== "s").toSorted()).toEqual([
    ["messaging.client.consumed.messages", "{message}"],
    ["messaging.client.sent.messages", "{message}"],
    ["push_webhooks.dead_letters", "{event}"],
  ]);
});

it("ignores the end of an operation that began before it", () => {
  for (const name of TRACE_NAMES) channel(`tracing:${PREFIX}${name}:asyncEnd`).publish({});
  expect(telemetry.spans()).toEqual([]);
});

it("ends when the returned function is called", async () => {
  await telemetry.stop();
  const names = [
    ...TRACE_NAMES.flatMap((name) => [
      `tracing:${PREFIX}${name}:start`,
      `tracing:${PREFIX}${name}:asyncEnd`,
    ]),
    `${PREFIX}dead-lettered`,
  ];
  const listSubscribed = () => names.filter((name) => channel(name).hasSubscribers);
  // Channels are of the process: another file may have subscribed.
  const before = listSubscribed();
  const end = instrumentPushWebhooks();
  expect(listSubscribed().length).toBeGreaterThan(before.length);
  end();
  expect(listSubscribed()).toEqual(before);
});
