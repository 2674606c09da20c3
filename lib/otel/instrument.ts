import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  context,
  createContextKey,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Histogram,
} from "@opentelemetry/api";
import { type Diagnostics, PUSH_EVENT_TYPES, type Traces, type WebhookError } from "../index";

const NAME = "express-push-verification";
const SYSTEM = "express_push_verification";
/** As the semantic conventions of HTTP and of messaging prescribe. */
const DURATION = {
  unit: "s",
  advice: {
    explicitBucketBoundaries: [
      0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ],
  },
};
/** The key of `@opentelemetry/core`, with which the SDK starts no spans: equal texts are one key. */
const SUPPRESS_TRACING = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");
/** A Web `Request` may have any other method: a client would choose the name of a span. */
const METHODS = new Set("CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE".split(" "));
/** Any other text would be a time series of its own. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(PUSH_EVENT_TYPES);

/**
 * Reports the receivers and workers of this process to OpenTelemetry: spans and metrics by the
 * semantic conventions for HTTP servers and messaging. The trace context of a webhook request is
 * stored with its event: receive, store and handle are one trace. Call it once, after the SDK of
 * OpenTelemetry has started.
 *
 * @returns the function that ends this.
 */
export function instrumentPushWebhooks(): () => void {
  const spans = new OperationSpans();
  const instruments = createInstruments();
  const entries = Object.entries({
    ...observeReceive(spans, instruments),
    ...observeStore(spans, instruments),
    ...observeHandle(spans, instruments),
    // Each statement of an idle worker would be a trace of its own.
    "tracing:express-push-verification:poll:start"(message: Traces["poll"]) {
      const silenced = context.active().setValue(SUPPRESS_TRACING, true);
      message.around = (run) => context.with(silenced, run);
    },
  }) as [string, (message: unknown) => void][];
  for (const [name, subscriber] of entries) subscribe(name, subscriber);
  return () => {
    for (const [name, subscriber] of entries) unsubscribe(name, subscriber);
  };
}

type Subscribers = Record<string, (message: never) => void>;
type Instruments = ReturnType<typeof createInstruments>;

function createInstruments() {
  const meter = metrics.getMeter(NAME);
  return {
    requestDuration: meter.createHistogram("http.server.request.duration", DURATION),
    storeDuration: meter.createHistogram("messaging.client.operation.duration", DURATION),
    handleDuration: meter.createHistogram("messaging.process.duration", DURATION),
    sent: meter.createCounter("messaging.client.sent.messages", { unit: "{message}" }),
    consumed: meter.createCounter("messaging.client.consumed.messages", { unit: "{message}" }),
    deadLetters: meter.createCounter("push_webhooks.dead_letters", { unit: "{event}" }),
  };
}

/** The spans of the operations that run, by the message of their tracing channel. */
class OperationSpans {
  readonly #tracer = trace.getTracer(NAME);
  /** End the span of an operation, and return the attributes of its metrics. */
  readonly #endings = new WeakMap<object, (error: unknown, result: Attributes) => Attributes>();

  /**
   * Starts a span, which is active while its operation runs; returns its context.
   *
   * @param attributes are also attributes of its metrics: each has few values.
   */
  begin(
    message: Traces[keyof Traces],
    { name, kind, parent }: { name: string; kind: SpanKind; parent: Context },
    attributes: Attributes,
    details: Attributes,
    histogram?: Histogram,
  ): Context {
    const started = { ...attributes, ...details };
    const span = this.#tracer.startSpan(name, { kind, attributes: started }, parent);
    const active = trace.setSpan(parent, span);
    message.around = (run) => context.with(active, run);
    const startMs = performance.now();
    this.#endings.set(message, (error, result) => {
      const { code = "_OTHER", status = 500 } = Object(error) as Partial<WebhookError>;
      const ended = { ...result, ...(error !== undefined && { "error.type": code }) };
      span.setAttributes(ended);
      // By the conventions, a mistake of the client is no error of the server.
      if (error !== undefined && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      const measured = { ...attributes, ...ended };
      histogram?.record((performance.now() - startMs) / 1_000, measured);
      return measured;
    });
    return active;
  }

  /** Ends a span, unless its operation started before the instrumentation. */
  end(message: object, error: unknown, result: Attributes = {}): Attributes {
    return this.#endings.get(message)?.(error, result) ?? {};
  }
}

function observeReceive(spans: OperationSpans, instruments: Instruments): Subscribers {
  return {
    "tracing:express-push-verification:receive:start"(message: Traces["receive"]) {
      const { path, route, scheme, receiver } = message;
      const method = METHODS.has(message.method) ? message.method : "_OTHER";
      const parent = context.active();
      // The instrumentation of node:http already has a span, and measures the duration.
      const isServer = trace.getSpan(parent) === undefined;
      const verb = method === "_OTHER" ? "HTTP" : method;
      spans.begin(
        message,
        {
          name: route === undefined ? verb : `${verb} ${route}`,
          kind: isServer ? SpanKind.SERVER : SpanKind.INTERNAL,
          parent,
        },
        { "http.request.method": method, "url.scheme": scheme, "http.route": route },
        { "url.path": path, "push_webhooks.receiver": receiver },
        isServer ? instruments.requestDuration : undefined,
      );
    },
    "tracing:express-push-verification:receive:asyncEnd"(message: Traces["receive"]) {
      const { result } = message;
      spans.end(message, result, { "http.response.status_code": result?.status ?? 200 });
    },
  };
}

function observeStore(spans: OperationSpans, instruments: Instruments): Subscribers {
  return {
    "tracing:express-push-verification:store:start"(message: Traces["store"]) {
      const { queue, type, uuid, receiver, carrier } = message;
      const active = spans.begin(
        message,
        { name: `store ${queue}`, kind: SpanKind.PRODUCER, parent: context.active() },
        describeMessaging(queue, "store", "send"),
        describeEvent(type, uuid, receiver),
        instruments.storeDuration,
      );
      propagation.inject(active, carrier, {
        set(target, key, value) {
          // Baggage may name a user, and may be chosen by a client.
          if (key !== "baggage") target[key] = value;
        },
      });
    },
    "tracing:express-push-verification:store:asyncEnd"(message: Traces["store"]) {
      const attributes = spans.end(message, message.error);
      if (message.result === "new") instruments.sent.add(1, attributes);
    },
  };
}

function observeHandle(spans: OperationSpans, instruments: Instruments): Subscribers {
  return {
    "tracing:express-push-verification:handle:start"(message: Traces["handle"]) {
      const { queue, type, uuid, receiver, carrier, attempt } = message;
      const details = { ...describeEvent(type, uuid, receiver), "push_webhooks.attempt": attempt };
      if (queue === undefined) {
        const name = KNOWN_TYPES.has(type) ? `handle ${type}` : "handle";
        const span = { name, kind: SpanKind.INTERNAL, parent: context.active() };
        spans.begin(message, span, {}, details);
        return;
      }
      // Not the active context: a worker may look for events in the context of another request.
      const parent = propagation.extract(ROOT_CONTEXT, carrier ?? {});
      const span = { name: `handle ${queue}`, kind: SpanKind.CONSUMER, parent };
      const attributes = describeMessaging(queue, "handle", "process");
      spans.begin(message, span, attributes, details, instruments.handleDuration);
      instruments.consumed.add(1, attributes);
    },
    "tracing:express-push-verification:handle:asyncEnd"(message: Traces["handle"]) {
      spans.end(message, message.error);
    },
    "express-push-verification:dead-lettered"({ type }: Diagnostics["dead-lettered"]) {
      instruments.deadLetters.add(1, {
        "push_webhooks.event.type": KNOWN_TYPES.has(type) ? type : "_OTHER",
      });
    },
  };
}

function describeMessaging(queue: string, name: string, type: string): Attributes {
  return {
    "messaging.system": SYSTEM,
    "messaging.destination.name": queue,
    "messaging.operation.name": name,
    "messaging.operation.type": type,
  };
}

function describeEvent(type: string, uuid: string, receiver: string | undefined): Attributes {
  return {
    "messaging.message.id": uuid,
    "push_webhooks.event.type": type,
    "push_webhooks.receiver": receiver,
  };
}
