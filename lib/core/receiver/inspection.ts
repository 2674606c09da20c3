import type { PendingWait, WaitOptions } from "../delivery/challenge-wait";
import type { QueuedEvent } from "../delivery/event-queue";
import type { ChallengeOutcome } from "../delivery/outcome";
import type { WebhookError } from "../errors/webhook-error";
import type { Pair } from "../../kit/pairs";
import type { DeliveryResult } from "../event/event";
import type { Journal, RequestEntry } from "../journal/journal";
import type { RejectedRequest } from "../observability/reporter";
import { callSafely } from "../../kit/safe-call";
import { readForm } from "./body";
import type { PushWebhooksSettings } from "./options";
import { describeRequest, type IncomingRequest } from "./incoming-request";

/** A webhook request and its result, as an observer receives it. */
export class ObservedRequest {
  readonly #incoming: IncomingRequest;
  readonly #address: string | undefined;
  /** How long it took until its response was decided, or its handlers failed, in milliseconds. */
  readonly durationMs: number;

  /**
   * @param startMs when it arrived, as `performance.now()` counts.
   * @param queued undefined when the request was not authenticated.
   * @param result undefined when the request was rejected before that was decided.
   * @param error why the request was rejected, or why its handlers failed.
   * @param failedLater whether `error` came after the response: the handlers ran after it.
   */
  constructor(
    incoming: IncomingRequest,
    readonly startMs: number,
    readonly queued: QueuedEvent | undefined,
    readonly result: DeliveryResult | undefined,
    readonly error: WebhookError | undefined,
    readonly failedLater: boolean,
  ) {
    this.#incoming = incoming;
    // Later the socket may be closed, and not know it.
    this.#address = incoming.remoteAddress;
    this.durationMs = performance.now() - startMs;
  }

  readTarget(): Pick<RejectedRequest, "method" | "path"> {
    return describeRequest(this.#incoming);
  }

  /** Reads what tells its sender; any client can choose the headers. */
  readSender(): RequestEntry["sender"] {
    const [forwardedFor] = this.#incoming.listHeader("x-forwarded-for");
    const [userAgent] = this.#incoming.listHeader("user-agent");
    return { address: this.#address, forwardedFor, userAgent };
  }

  /** Reads the parameters that the sender claims; none when the body was not read, or is large. */
  readClaims(): readonly Pair[] {
    const { method, target, body } = this.#incoming;
    try {
      return readForm(method === "GET" ? target.split("?", 2)[1] : body, MAX_CLAIMED_BYTES).pairs;
    } catch {
      return [];
    }
  }
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
  /** Returns the journal of the queue; without one a journal in memory, which begins with the first call. */
  openJournal(): Journal;
}

// Not a property of the receiver: an app must not come to use it.
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
  const { name, authToken } = settings;
  return {
    name,
    /** Number of static tokens; undefined when a function finds them. */
    tokenCount: typeof authToken === "function" ? undefined : [authToken].flat().length,
    confirm: settings.confirm,
    /** Stores the events, which are handled later. */
    queue: settings.queue,
    /** Whether the handlers run before the response, or after it. */
    acknowledge: settings.acknowledge,
  };
}

/** A claim in a larger body is not of the service. */
const MAX_CLAIMED_BYTES = 16_384;

/** The observers of the requests of a receiver. */
export class Observers {
  readonly #observers = new Set<RequestObserver>();

  /** Adds an observer; returns the function that removes it. */
  add(observer: RequestObserver): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Tells the result of a request, or that its handlers failed after its response. */
  tell(
    incoming: IncomingRequest,
    startMs: number,
    queued: QueuedEvent | undefined,
    result: DeliveryResult | undefined,
    error?: WebhookError,
    failedLater = false,
  ): void {
    if (this.#observers.size === 0) return;
    const observed = new ObservedRequest(incoming, startMs, queued, result, error, failedLater);
    for (const observer of this.#observers) callSafely(observer, () => observer(observed));
  }
}
