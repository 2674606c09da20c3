import type { PendingWait, WaitOptions } from "../delivery/challenge-wait";
import type { QueuedEvent } from "../delivery/event-queue";
import type { ChallengeOutcome } from "../delivery/outcome";
import type { WebhookError } from "../errors/webhook-error";
import { FORM_CONTENT_TYPES } from "../../kit/form-type";
import type { Pair } from "../../kit/pairs";
import type { DeliveryResult } from "../event/event";
import type { Journal, RequestEntry } from "../journal/journal";
import type { RejectedRequest } from "../observability/reporter";
import { callSafely } from "../../kit/safe-call";
import { signRequest } from "../signature/signed-request";
import { readForm } from "./body";
import type { PushWebhooksSettings } from "./options";
import { describeRequest, type IncomingRequest } from "./incoming-request";

/** A webhook request and its result, as an observer receives it. */
export interface ObservedRequest {
  /** When it arrived, as `performance.now()` counts. */
  readonly startMs: number;
  /** How long it took until its response was decided, or its handlers failed, in milliseconds. */
  readonly durationMs: number;
  /** Undefined when the request was not authenticated. */
  readonly queued?: QueuedEvent | undefined;
  /** Undefined when the request was rejected before that was decided. */
  readonly result?: DeliveryResult | undefined;
  /** Why the request was rejected, or why its handlers failed. */
  readonly error?: WebhookError | undefined;
  /** Whether `error` came after the response: the handlers ran after it. */
  readonly failedLater: boolean;
  readTarget(): Pick<RejectedRequest, "method" | "path">;
  /** Reads what tells its sender; any client can choose the headers. */
  readSender(): RequestEntry["sender"];
  /** Reads the parameters that the sender claims; none when the body was not read, or is large. */
  readClaims(): readonly Pair[];
}

/** Receives a request when its response is decided, and again if its handlers fail later. */
type RequestObserver = (request: ObservedRequest) => void;

/** The view of a receiver for an admin console: it never holds a token. */
export interface ReceiverInspection extends Readonly<ReturnType<typeof inspectSettings>> {
  /** Adds an observer of every webhook request; returns the function that removes it. */
  observe(observer: RequestObserver): () => void;
  /** Lists the pending waits, the oldest first. */
  listPendingWaits(): PendingWait[];
  /** Waits as the receiver does, without a challenge having a handler from then on. */
  waitForChallenge(options: WaitOptions): Promise<ChallengeOutcome>;
  /**
   * Runs the handlers of an accepted event again in this process, after `confirm` if it needs that.
   *
   * @throws WebhookError as `push.dispatch`; `NOT_CONFIRMED`, `CONFIRM_UNAVAILABLE`.
   */
  redeliver(queued: QueuedEvent): Promise<void>;
  /**
   * Returns the journal of the queue; without one a journal in memory, which begins with the first call.
   *
   * @param processName the name of this process, such as `4711 on web-1`.
   */
  openJournal(processName: string): Journal;
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
  live: Pick<
    ReceiverInspection,
    "observe" | "listPendingWaits" | "waitForChallenge" | "redeliver" | "openJournal"
  >,
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

/** A claim in a larger body is not of the service. */
const MAX_CLAIMED_BYTES = 16_384;

/** Creates an empty list of observers. */
export function createObservers() {
  const observers = new Set<RequestObserver>();

  return {
    /**
     * Starts to observe a request. Returns the function that tells its result, and a later failure;
     * undefined while there is no observer.
     */
    start(incoming: IncomingRequest, startMs: number) {
      if (observers.size === 0) return undefined;
      let isDecided = false;

      return (found: Pick<ObservedRequest, "queued" | "result" | "error">): void => {
        const failedLater = isDecided;
        isDecided = true;
        const durationMs = performance.now() - startMs;
        // Later the socket may be closed, and not know it.
        const address = incoming.remoteAddress;
        const observed: ObservedRequest = {
          startMs,
          durationMs,
          ...found,
          failedLater,
          readTarget: () => describeRequest(incoming),
          readSender: () => ({ address, ...readSender(incoming) }),
          readClaims: () => readClaims(incoming),
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

function readSender(incoming: IncomingRequest) {
  const [forwardedFor] = incoming.listHeader("x-forwarded-for");
  const [userAgent] = incoming.listHeader("user-agent");
  return { forwardedFor, userAgent };
}

function readClaims({ method, target, body }: IncomingRequest) {
  try {
    return readForm(method === "GET" ? target.split("?", 2)[1] : body, MAX_CLAIMED_BYTES).pairs;
  } catch {
    return [];
  }
}
