import type { EventStatus, ReceiverInspection, WebhookError } from "../../core/door";
import { hasMethods } from "../../kit/validate-options";

type ObservedRequest = Parameters<Parameters<ReceiverInspection["observe"]>[0]>[0];

/** What the rehearsal asks the queue of a receiver. */
interface WatchedQueue {
  find(uuid: string, options: { accountSid: string }): Promise<EventStatus | undefined>;
  stats(): Promise<{ workers?: number | undefined }>;
}

/** The request of a wait that has resolved is observed within this time, if it is in this process. */
const SEEN_MS = 1_000;

const FINAL: ReadonlySet<string> = new Set(["handled", "discarded", "dead"]);

/** What became of the webhook request of a challenge, as far as this process can see. */
export class Arrival {
  readonly #inspection: ReceiverInspection;
  readonly #challengeSid: string;
  readonly #accountSid: string;
  readonly #stop: () => void;
  /** Since when durations count. */
  readonly startMs = performance.now();
  /** The request of the challenge. */
  request: ObservedRequest | undefined;
  /** The last request that was rejected before anybody could read its event. */
  unread: WebhookError | undefined;
  /** How many requests arrived. */
  count = 0;
  /** Its state in the queue. */
  status: EventStatus | undefined;
  workers: number | undefined;
  /** Why the queue could not be asked. */
  queueFailure: unknown;

  constructor(inspection: ReceiverInspection, challengeSid: string, accountSid: string) {
    this.#inspection = inspection;
    this.#challengeSid = challengeSid;
    this.#accountSid = accountSid;
    this.#stop = inspection.observe((observed) => this.#note(observed));
  }

  /** Asks the queue, if there is one. */
  async look(): Promise<void> {
    const { queue } = this.#inspection;
    if (!hasMethods(queue, ["find", "stats"])) return;
    const watched = queue as unknown as WatchedQueue;
    try {
      ({ workers: this.workers } = await watched.stats());
      const uuid = this.request?.queued?.uuid;
      if (uuid === undefined) return;
      this.status = await watched.find(uuid, { accountSid: this.#accountSid });
    } catch (error) {
      this.queueFailure = error;
    }
  }

  /** The errors of the failed attempts in the queue, the last one at the end. */
  get failures(): readonly string[] {
    return this.status?.failures.map(({ error }) => error) ?? [];
  }

  /**
   * Whether nothing more will happen that changes a row.
   *
   * @param sinceWaitMs how long ago the wait resolved; undefined if it has not.
   */
  isOver(sinceWaitMs: number | undefined): boolean {
    const { request, status, failures } = this;
    const hasWaited = sinceWaitMs !== undefined;
    if (request?.error !== undefined) return true;
    if (this.#inspection.queue === undefined) return request !== undefined && hasWaited;
    // Another process has the request, and its outcome does not name the event.
    if (hasWaited && request === undefined && status === undefined) return sinceWaitMs > SEEN_MS;
    // Another attempt takes its time, and a worker that never comes takes for ever.
    const hasFailed = failures.at(-1)?.startsWith("HANDLER_") === true;
    const isFinal = status !== undefined && (FINAL.has(status.state) || hasFailed);
    const isStuck = request !== undefined && this.workers === 0;
    return (isFinal && (hasWaited || status.state === "dead")) || isStuck;
  }

  close(): void {
    this.#stop();
  }

  #note(observed: ObservedRequest): void {
    this.count++;
    const claims = observed.queued?.event.params ?? observed.readClaims();
    const isOwn = claims.some(
      ([name, value]) => name === "challenge_sid" && value === this.#challengeSid,
    );
    if (isOwn) this.request = observed;
    else if (claims.length === 0 && observed.error !== undefined) this.unread = observed.error;
  }
}
