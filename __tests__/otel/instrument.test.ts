import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { pushWebhooks } from "express-push-verification";
import { instrumentPushWebhooks } from "express-push-verification/otel";
import { publish, trace as traceOperation } from "../../lib/core/observability/diagnostics";
import type { Runner } from "../../lib/durable/runner";
import type { Claims, Storage } from "../../lib/durable/storage";
import { ClaimingPool, type WorkerContext } from "../../lib/durable/worker";
import { silent } from "../support/receivers";
import { startTelemetry } from "../support/telemetry";
import { until } from "../support/waiting";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../support/webhook-requests";

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
  const ask = async (name: string) => {
    trace.getTracer("client").startSpan(name).end();
    asked.push(name);
    return [];
  };
  const storage = { claim: () => ask("claim"), beat: () => ask("beat"), erase: () => ask("erase") };
  const availability = {
    assertOpen() {},
    watchWrite: (write: unknown) => write,
    isOver: () => false,
  };
  const runner = { concurrency: 1 };
  const parts = { availability, lookForEvents() {} } as unknown as WorkerContext;
  const pool = new ClaimingPool(storage as unknown as Claims & Storage, parts);
  const worker = pool.startWorker(runner as unknown as Runner);
  worker.look?.();
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
  expect(points.map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({ "error.type": "SIGNATURE_MISMATCH", "http.route": "/push/events" }),
    expect.not.objectContaining({ "http.route": expect.anything() as unknown }),
    expect.objectContaining({
      "http.request.method": "_OTHER",
      "error.type": "METHOD_NOT_ALLOWED",
    }),
  ]);
  expect(JSON.stringify(points)).not.toContain("4711");
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

const messagingOf = (name: string, type: string) => ({
  "messaging.system": "express_push_verification",
  "messaging.destination.name": "q",
  "messaging.operation.name": name,
  "messaging.operation.type": type,
});

it("stores the trace with an event without the baggage, which may name a user", async () => {
  const baggage = propagation.createBaggage({ user: { value: "user-7f3a-22" } });
  const event = { queue: "q", type: "factor.created", uuid: "a", receiver: undefined };
  const carrier: Record<string, string> = {};
  await context.with(propagation.setBaggage(context.active(), baggage), () =>
    traceOperation(
      "store",
      () => ({ ...event, carrier }),
      () => Promise.resolve("new" as const),
    ),
  );
  expect(Object.keys(carrier)).toEqual(["traceparent"]);
  expect(telemetry.spans()).toMatchObject([
    { name: "store q", kind: SpanKind.PRODUCER, attributes: messagingOf("store", "send") },
  ]);
});

it("handles an event of a queue in the trace of its store", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const carrier = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const event = { queue: "q", type: "factor.created", uuid: "a", receiver: "shop" };
  const run = { ...event, carrier, attempt: 2 };
  await traceOperation(
    "handle",
    () => run,
    async () => {},
  );
  const [span] = telemetry.spans();
  expect(span).toMatchObject({
    name: "handle q",
    kind: SpanKind.CONSUMER,
    attributes: { ...messagingOf("handle", "process"), "push_webhooks.attempt": 2 },
  });
  expect(span?.spanContext().traceId).toBe(traceId);
  const metrics = await telemetry.readMetrics();
  const attributes = messagingOf("handle", "process");
  const consumed = [{ value: 1, attributes }];
  expect(metrics["messaging.client.consumed.messages"]).toMatchObject(consumed);
  // The boundaries of the semantic conventions, in seconds.
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
  const measured = [{ value: { count: 1, buckets: { boundaries } }, attributes }];
  expect(metrics["messaging.process.duration"]).toMatchObject(measured);
  expect(telemetry.units()).toMatchObject({
    "messaging.process.duration": "s",
    "messaging.client.consumed.messages": "{message}",
  });
});

it("handles an event that was stored without a trace in a trace of its own", async () => {
  const run = { queue: "q", type: "factor.created", uuid: "a", receiver: undefined, attempt: 1 };
  await trace.getTracer("app").startActiveSpan("of another request", (other) => {
    other.end();
    return traceOperation(
      "handle",
      () => run,
      async () => {},
    );
  });
  expect(telemetry.spans().at(-1)).toMatchObject({
    name: "handle q",
    parentSpanContext: undefined,
  });
});

/** Stores a new event and a duplicate, fails once, and returns the metrics. */
async function measureStore() {
  const event = { queue: "q", type: "factor.created", uuid: "a", receiver: undefined };
  let nowMs = 5_000;
  const now = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const results = ["new", "duplicate", new Error("down")] as const;
  for (const result of results) {
    const stored = traceOperation(
      "store",
      () => ({ ...event, carrier: {} }),
      async () => {
        nowMs += 2_500;
        if (result instanceof Error) throw result;
        return result;
      },
    );
    await Promise.allSettled([stored]);
  }
  now.mockRestore();
  return telemetry.readMetrics();
}

it("counts the messages that are new in the store", async () => {
  const sent = (await measureStore())["messaging.client.sent.messages"];
  expect(sent?.map(({ value }) => value)).toEqual([1]);
});

it("measures operations of the store in seconds", async () => {
  const durations = (await measureStore())["messaging.client.operation.duration"];
  expect(durations?.map(({ value }) => value)).toMatchObject([
    { count: 2, sum: 5 },
    { count: 1, sum: 2.5 },
  ]);
});

it("ends when the returned function is called", async () => {
  instrumentPushWebhooks()();
  await telemetry.stop();
  expect(await send()).toBe(200);
  expect(telemetry.spans()).toEqual([]);
});
