import type { PendingWait, WaitOptions } from "../delivery/challenge-wait";
import type { QueuedEvent } from "../delivery/event-queue";
import type { ChallengeOutcome } from "../delivery/outcome";
import type { WebhookError } from "../errors/webhook-error";
import { FORM_CONTENT_TYPES } from "../../kit/form-type";
import type { Pair } from "../../kit/pairs";
import type { DeliveryResult } from "../event/event";
import type { RejectedRequest } from "../observability/reporter";
import { callSafely } from "../../kit/safe-call";
import { signRequest } from "../signature/signed-request";
import { readParams } from "./body";
import type { PushWebhooksSettings } from "./options";
import { describeRequest, listShownHeaders, type IncomingRequest } from "./incoming-request";

/** A webhook request and its result, as an observer receives it. */
export interface ObservedRequest {
  /** Counts the observed requests of a receiver, from 1. */
  readonly id: number;
  /** When it arrived, as `performance.now()` counts. */
  readonly startMs: number;
  /** How long it took until its response was decided, in milliseconds. */
  readonly durationMs: number;
  readonly request: RejectedRequest;
  /** The headers that hold neither a credential nor a signature. */
  readonly headers: readonly Pair[];
  /** Undefined when the request was not authenticated. */
  readonly queued?: QueuedEvent | undefined;
  /** Undefined when the request was rejected before that was decided. */
  readonly result?: DeliveryResult | undefined;
  /** Why the request was rejected, or why its handlers failed. */
  readonly error?: WebhookError | undefined;
  /** Whether `error` came after the response: the handlers ran after it. */
  readonly failedLater: boolean;
  /** Reads the parameters that the sender claims; none when the body was not read. */
  readClaims(): readonly Pair[];
}

/** Receives a request when its response is decided, and again if its handlers fail after that. */
export type RequestObserver = (request: ObservedRequest) => void;

/** The view of a receiver for an admin console: it never holds a token. */
export interface ReceiverInspection extends Readonly<ReturnType<typeof inspectSettings>> {
  /** Adds an observer of every webhook request; returns the function that removes it. */
  observe(observer: RequestObserver): () => void;
  /** Lists the pending waits, the oldest first. */
  listPendingWaits(): PendingWait[];
  /** Waits as the receiver does, without a challenge having a handler from then on. */
  waitForChallenge(options: WaitOptions): Promise<ChallengeOutcome>;
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
  live: Pick<ReceiverInspection, "observe" | "listPendingWaits" | "waitForChallenge">,
): void {
  inspections.set(receiver, { ...inspectSettings(settings), ...live });
}

function inspectSettings(settings: PushWebhooksSettings) {
  const { name, authToken, publicUrls, signatureHeaders } = settings;
  const tokens = typeof authToken === "function" ? undefined : [authToken].flat();
  const [onlyToken = ""] = tokens ?? [];
  const [webhookUrl = ""] = publicUrls;
  const [signatureHeader = ""] = signatureHeaders;
  const [contentType] = FORM_CONTENT_TYPES;
  const common = { authToken: onlyToken, webhookUrl, signatureHeader, contentType };
  const sign = (params: readonly Pair[]) => signRequest({ ...common, method: "POST", params });
  return {
    name,
    /** Number of static tokens; undefined when a function finds them. */
    tokenCount: tokens?.length,
    confirm: settings.confirm,
    /** Stores the events, which are handled later. */
    queue: settings.queue,
    /** Whether the handlers run before the response, or after it. */
    acknowledge: settings.acknowledge,
    allowedAccountSids: [...(settings.allowedAccountSids ?? [])],
    allowedServiceSids: [...(settings.allowedServiceSids ?? [])],
    /** Signs a request as the service does; undefined unless there is exactly one static token. */
    signRequest: tokens?.length === 1 ? sign : undefined,
  };
}

/** Creates an empty list of observers; none reads claims of a body above the limit. */
export function createObservers(limitBytes: number) {
  const observers = new Set<RequestObserver>();
  let count = 0;

  return {
    /**
     * Starts to observe a request. Returns the function that tells its result, which is called
     * again for a failure after that; undefined, at no cost, while there is no observer.
     */
    start(incoming: IncomingRequest, startMs: number) {
      if (observers.size === 0) return undefined;
      const id = ++count;
      const request = describeRequest(incoming);
      const headers = listShownHeaders(incoming);
      let durationMs: number | undefined;

      return (found: Pick<ObservedRequest, "queued" | "result" | "error">): void => {
        const failedLater = durationMs !== undefined;
        durationMs ??= performance.now() - startMs;
        const observed: ObservedRequest = {
          id,
          startMs,
          durationMs,
          request,
          headers,
          ...found,
          failedLater,
          readClaims: () => readClaims(incoming, limitBytes),
        };
        for (const observer of observers) callSafely(observer, () => observer(observed));
      };
    },
    observe(observer: RequestObserver): () => void {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
}
/** Reads the parameters of a request, which its sender may have invented; none if it cannot. */
function readClaims({ method, target, body }: IncomingRequest, limitBytes: number) {
  try {
    return readParams(method === "GET" ? target.split("?", 2)[1] : body, limitBytes);
  } catch {
    return [];
  }
}
