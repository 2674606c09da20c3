import type { ReceiverInspection, WebhookError } from "../../core/door";
import type { DurableQueue, EventStatus, QueueUser } from "../../durable";
import { hasMethods } from "../../kit/validate-options";

type ObservedRequest = Parameters<Parameters<ReceiverInspection["observe"]>[0]>[0];

/** What the rehearsal asks the queue of a receiver. */
interface WatchedQueue extends Pick<DurableQueue, "countUserData" | "deadLetters"> {
  find(uuid: string, options: { accountSid: string }): Promise<EventStatus | undefined>;
  stats(): Promise<{ workers?: number | undefined }>;
}

/** The request of a wait that has resolved is observed within this time, if it is in this process. */
const SEEN_MS = 1_000;

const FINAL: ReadonlySet<EventStatus["state"]> = new Set(["handled", "discarded", "dead"]);

/** What became of the webhook request of a challenge, as far as this process can see. */
export class Arrival {
  readonly #inspection: ReceiverInspection;
  readonly #challengeSid: string;
  readonly #user: QueueUser;
  readonly #stop: () => void;
  /** Since when durations count. */
  readonly startMs = performance.now();
  /** The request of the challenge. */
  request: ObservedRequest | undefined;
  /** The last request that was rejected before its event could be read. */
  unread: WebhookError | undefined;
  /** How many requests arrived. */
  count = 0;
  /** The state of its event in the queue. */
  state: EventStatus["state"] | undefined;
  /** The errors of the failed attempts, the last one at the end; none of a retry in another process. */
  failures: readonly string[] = [];
  workers: number | undefined;

  constructor(inspection: ReceiverInspection, challengeSid: string, user: QueueUser) {
    this.#inspection = inspection;
    this.#challengeSid = challengeSid;
    this.#user = user;
    this.#stop = inspection.observe((observed) => this.#note(observed));
  }

  /**
   * Asks the queue, if there is one.
   *
   * @param sinceWaitMs how long ago the wait resolved; undefined if it has not.
   * @param isLast whether to look also for an event of another process whose wait has not resolved.
   */
  async look(sinceWaitMs: number | undefined, isLast = false): Promise<void> {
    const { queue } = this.#inspection;
    if (!hasMethods(queue, ["find", "stats"])) return;
    const watched = queue as unknown as WatchedQueue;
    try {
      ({ workers: this.workers } = await watched.stats());
      const uuid = this.request?.queued?.uuid;
      if (uuid !== undefined) {
        const { accountSid } = this.#user;
        const status = await watched.find(uuid, { accountSid });
        this.state = status?.state;
        this.failures = status?.failures.map(({ error }) => error) ?? [];
      } else if (this.request === undefined && (isLast || Number(sinceWaitMs) > SEEN_MS)) {
        await this.#lookElsewhere(watched, sinceWaitMs !== undefined);
      }
    } catch {
      // The rows of the store and the worker show it.
    }
  }

  /** Finds the event that another process has stored by its user, whom no other event has. */
  async #lookElsewhere(queue: WatchedQueue, hasWaited: boolean): Promise<void> {
    if (!hasMethods(queue, ["countUserData", "deadLetters"])) return;
    const { deadLetters, active, delayed, waiting } = await queue.countUserData(this.#user);
    if (deadLetters > 0) {
      this.state = "dead";
      for await (const { event, error } of queue.deadLetters()) {
        const { entity_identity } = Object(event) as { entity_identity?: unknown };
        if (entity_identity === this.#user.entityIdentity) this.failures = [error];
      }
    } else if (active > 0) this.state = "active";
    else if (delayed > 0) this.state = "delayed";
    else if (waiting > 0) this.state = "waiting";
    else if (hasWaited) this.state = "handled";
  }

  /**
   * Whether nothing more will happen that changes a row.
   *
   * @param sinceWaitMs how long ago the wait resolved; undefined if it has not.
   */
  isOver(sinceWaitMs: number | undefined): boolean {
    const { request, state, failures } = this;
    const hasWaited = sinceWaitMs !== undefined;
    if (request?.error !== undefined) return true;
    if (this.#inspection.queue === undefined) return request !== undefined && hasWaited;
    // Another process has the request, and the queue cannot be searched.
    if (hasWaited && request === undefined && state === undefined) return sinceWaitMs > SEEN_MS;
    // Another attempt takes its time, and a worker that never comes takes for ever.
    const hasFailed = failures.at(-1)?.startsWith("HANDLER_") ?? state === "delayed";
    const isFinal = state !== undefined && (FINAL.has(state) || hasFailed);
    const isStuck = (request ?? state) !== undefined && this.workers === 0;
    return (isFinal && (hasWaited || state === "dead")) || isStuck;
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
