import { setTimeout as sleep } from "node:timers/promises";
import type { ReceiverInspection } from "../../core/door";
import type { WebhookError } from "../../index";
import type { EventStatus, QueueUser } from "../../durable";
import { hasMethods } from "../../kit/validate-options";
import type { DurableQueue } from "../../durable";

type ObservedRequest = Parameters<Parameters<ReceiverInspection["observe"]>[0]>[0];

const POLL_MS = 200;

/** The request of a wait that has resolved is observed within this time, if it is in this process. */
const SEEN_MS = 1_000;

const FINAL: ReadonlySet<EventStatus["state"]> = new Set(["handled", "discarded", "dead"]);

/** What became of a login, as far as this process can see: its webhook request, and its wait. */
export class Arrival {
  readonly inspection: ReceiverInspection;
  readonly #challengeSid: string;
  readonly #user: QueueUser;
  readonly #stopObserving: () => void;
  readonly #stopWaiting = new AbortController();
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
  /** When the wait resolved by a webhook request; undefined if it has not. */
  resolvedMs: number | undefined;
  /** Why the wait was rejected. */
  waitError: WebhookError | undefined;

  /** Observes the requests of a receiver, and waits for a challenge as an app does. */
  constructor(
    inspection: ReceiverInspection,
    challengeSid: string,
    user: QueueUser,
    timeoutMs: number,
  ) {
    this.inspection = inspection;
    this.#challengeSid = challengeSid;
    this.#user = user;
    this.#stopObserving = inspection.observe((observed) => this.#note(observed));
    const { signal } = this.#stopWaiting;
    inspection.waitForChallenge({ challengeSid, ...user, timeoutMs, signal }).then(
      // The service's own word does not prove that its webhook request arrives.
      ({ source }) => (this.resolvedMs = source === "webhook" ? performance.now() : undefined),
      (error: WebhookError) => (this.waitError = error),
    );
  }

  /** Waits until nothing more will happen that changes a row. */
  async waitUntilOver(timeoutMs: number): Promise<void> {
    const endAtMs = performance.now() + timeoutMs;
    while (performance.now() < endAtMs) {
      const isElsewhere = this.#hasLongResolved();
      await this.#look(isElsewhere);
      if (this.#isOver(isElsewhere)) return;
      await sleep(POLL_MS);
    }
    // Also when the wait has resolved just now, and the event was not looked for elsewhere yet.
    await this.#look(true);
  }

  /** Asks the queue, if there is one, on demand also for an event that another process stored. */
  async #look(isElsewhere: boolean): Promise<void> {
    const { queue } = this.inspection;
    if (!hasMethods(queue, ["find", "stats", "countUserData", "deadLetters"])) return;
    const watched = queue as unknown as DurableQueue;
    try {
      ({ workers: this.workers } = await watched.stats());
      const uuid = this.request?.queued?.uuid;
      if (uuid !== undefined) {
        const { accountSid } = this.#user;
        const status = await watched.find(uuid, { accountSid });
        this.state = status?.state;
        this.failures = status?.failures.map(({ error }) => error) ?? [];
      } else if (this.request === undefined && isElsewhere) {
        await this.#lookElsewhere(watched);
      }
    } catch {
      // The rows of the store and the worker show it.
    }
  }

  /** Finds the event that another process has stored by its user, whom no other event has. */
  async #lookElsewhere(queue: DurableQueue): Promise<void> {
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
    else if (this.resolvedMs !== undefined) this.state = "handled";
  }

  #hasLongResolved(): boolean {
    return performance.now() - (this.resolvedMs ?? Infinity) > SEEN_MS;
  }

  #isOver(isElsewhere: boolean): boolean {
    const { request, state, failures, resolvedMs } = this;
    const hasWaited = resolvedMs !== undefined;
    if (request?.error !== undefined) return true;
    if (this.inspection.queue === undefined) return request !== undefined && hasWaited;
    // Another process has the request, and the queue cannot be searched.
    if (hasWaited && request === undefined && state === undefined) return isElsewhere;
    // Another attempt takes its time, and a worker that never comes takes for ever.
    const hasFailed = failures.at(-1)?.startsWith("HANDLER_") ?? state === "delayed";
    const isFinal = state !== undefined && (FINAL.has(state) || hasFailed);
    const isStuck = (request ?? state) !== undefined && this.workers === 0;
    return (isFinal && (hasWaited || state === "dead")) || isStuck;
  }

  close(): void {
    this.#stopWaiting.abort();
    this.#stopObserving();
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
