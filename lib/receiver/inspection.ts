import type { PendingWaits } from "../challenge/challenge-wait";
import type { QueuedEvent } from "../delivery/event-queue";
import type { WebhookError } from "../errors/webhook-error";
import { FORM_CONTENT_TYPES } from "../form/form";
import type { Pair } from "../form/parameters";
import type { DeliveryResult } from "../event/event";
import type { RejectedRequest } from "../observability/reporter";
import { callSafely } from "../observability/safe-call";
import { signRequest } from "../signature/signed-request";
import { readParams } from "./body";
import type { PushWebhooksSettings } from "./options";
import { describeRequest, listShownHeaders, type IncomingRequest } from "./incoming-request";

/** A webhook request and its result, as an observer receives it. */
export type ObservedRequest = Readonly<Omit<Observation, "finish" | "failLater">>;

/** Receives a request when its response is decided, and again if its handlers fail after that. */
export type RequestObserver = (request: ObservedRequest) => void;

/** The view of a receiver for an admin console: it never holds a token. */
export interface ReceiverInspection extends Readonly<ReturnType<typeof inspectSettings>> {
  /** Adds an observer of every webhook request; returns the function that removes it. */
  observe(observer: RequestObserver): () => void;
  readPendingWaits(): PendingWaits;
}

// Not a property of the receiver: the signing function must not be reachable from it.
const inspections = new WeakMap<object, ReceiverInspection>();

/** Returns the inspection of a receiver; undefined for anything else. */
export function inspectReceiver(receiver: object): ReceiverInspection | undefined {
  return inspections.get(receiver);
}

/** Makes a receiver known to {@link inspectReceiver}. */
export function registerInspection(
  receiver: object,
  settings: PushWebhooksSettings,
  observe: ReceiverInspection["observe"],
  readPendingWaits: () => PendingWaits,
): void {
  inspections.set(receiver, { ...inspectSettings(settings), observe, readPendingWaits });
}

function inspectSettings(settings: PushWebhooksSettings) {
  const { name, authToken, publicUrls, signatureHeader } = settings;
  const tokens = typeof authToken === "function" ? undefined : [authToken].flat();
  const [onlyToken = ""] = tokens ?? [];
  const sign = (params: readonly Pair[]) =>
    signRequest({
      authToken: onlyToken,
      webhookUrl: publicUrls[0] ?? "",
      method: "POST",
      signatureHeader,
      contentType: FORM_CONTENT_TYPES[0],
      params,
    });
  return {
    name,
    /** Number of static tokens; undefined when a function finds them. */
    tokenCount: tokens?.length,
    confirm: settings.confirm,
    /** Whether events are stored in a queue, and handled later. */
    hasQueue: settings.queue !== undefined,
    allowedAccountSids: [...(settings.allowedAccountSids ?? [])],
    allowedServiceSids: [...(settings.allowedServiceSids ?? [])],
    /** Signs a request as the service does; undefined unless there is exactly one static token. */
    signRequest: tokens?.length === 1 ? sign : undefined,
  };
}

/** Creates an empty list of observers. */
export function createObservers() {
  const observers = new Set<RequestObserver>();
  let count = 0;

  function notify(request: ObservedRequest): void {
    for (const observer of observers) void callSafely(observer, () => observer(request));
  }

  return {
    /** Starts to observe a request; returns undefined, at no cost, while there is no observer. */
    start: (request: IncomingRequest) =>
      observers.size === 0 ? undefined : new Observation(++count, request, notify),
    observe(observer: RequestObserver): () => void {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
}

/**
 * A request that is being observed: the receiver sets its fields one after the other. A class: its instances
 * have one hidden class and no closures.
 */
export class Observation {
  /** When it arrived, as `performance.now()` counts. */
  readonly startMs = performance.now();
  /** How long it took until its response was decided, in milliseconds. */
  durationMs = 0;
  /** Undefined when the request was not authenticated. */
  queued: QueuedEvent | undefined = undefined;
  /** Undefined when the request was rejected before that was decided. */
  result: DeliveryResult | undefined = undefined;
  /** Why the request was rejected, or why its handlers failed. */
  error: WebhookError | undefined = undefined;
  /** Whether `error` came after the response: the handlers ran after it. */
  failedLater = false;
  readonly request: RejectedRequest;
  /** The headers that hold neither a credential nor a signature. */
  readonly headers: readonly Pair[];

  constructor(
    /** Counts the observed requests of a receiver, from 1. */
    readonly id: number,
    private readonly incoming: IncomingRequest,
    private readonly notify: RequestObserver,
  ) {
    this.request = describeRequest(incoming);
    this.headers = listShownHeaders(incoming);
  }

  /** Reads the parameters of a rejected request, which its sender may have invented; none if it cannot. */
  readClaims(): readonly Pair[] {
    const { method, target, body } = this.incoming;
    try {
      return readParams(method === "GET" ? target.split("?", 2)[1] : body, Infinity);
    } catch {
      return [];
    }
  }

  finish(error?: WebhookError): void {
    this.durationMs = performance.now() - this.startMs;
    this.error = error;
    this.notify(this);
  }

  failLater(error: WebhookError): void {
    this.error = error;
    this.failedLater = true;
    this.notify(this);
  }
}
