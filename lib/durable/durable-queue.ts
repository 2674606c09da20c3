import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { isChallengeEvent } from "../event";
import { WebhookError } from "../errors";
import { createHold } from "../hold";
import type { PushWebhooks } from "../middleware";
import { checkOptions, hasMethods, MAX_TIMER_MS, wholeNumber } from "../option-rules";
import type { EventQueue } from "../queue";
import { openConnection } from "./connection";
import { createDeadLetters, type DeadLetter } from "./dead-letters";
import { DurabilityError } from "./durability";
import { resolveDurableOptions, type DurableQueueOptions } from "./options";
import { createSharedOutcomes } from "./outcomes";
import { createEventStore } from "./store";
import type { StoredEvent } from "./stored-event";
import { startWorker, type EventWorker } from "./worker";

/** How handlers are run. */
export interface WorkOptions {
  /** How many events are handled at a time in this process. @default 16 */
  concurrency?: number;
}

/** How a queue is closed. */
export interface CloseOptions {
  /** After which it is not waited for what still runs, in milliseconds. @default 10_000 */
  deadlineMs?: number;
}

/** How many events are where. */
export interface QueueStats {
  /** Stored, and not handled yet. */
  waiting: number;
  /** Being handled. */
  active: number;
  /** Failed, to be handled again. */
  delayed: number;
  deadLetters: number;
}

/** Events in Redis, by BullMQ; see {@link durableQueue}. */
export interface DurableQueue extends EventQueue {
  /**
   * Resolves once Redis is reached and its durability is as required; waits for one that is down.
   *
   * @throws DurabilityError with the lines of redis.conf to change; WebhookError `CLOSING`.
   */
  ready(): Promise<void>;
  /**
   * Runs the handlers of a receiver for stored events, in this process, until the queue is closed.
   * A handler that fails is run again, `attempts` times, then its event is a dead letter; one that
   * throws BullMQ's UnrecoverableError makes it one at once.
   *
   * @throws TypeError for what is not a receiver, or an option that is unknown or impossible.
   */
  work(push: Pick<PushWebhooks, "handle">, options?: WorkOptions): void;
  /** The events that were not handled, the one that failed first comes first. */
  deadLetters(): AsyncIterableIterator<DeadLetter>;
  /**
   * Has the handlers of a dead letter run again, or those of all, with all attempts.
   *
   * @returns how many were revived.
   */
  revive(which: string | { all: true }): Promise<number>;
  /** Removes a dead letter for ever. Its uuid stays remembered, so a replay is not handled. */
  discard(uuid: string): Promise<boolean>;
  stats(): Promise<QueueStats>;
  /** Stores no more, finishes what runs within a deadline, and disconnects. */
  close(options?: CloseOptions): Promise<void>;
}

const ATTEMPT_MS = 2_000;

/**
 * Makes a queue that keeps events in Redis before they are answered, and hands them to handlers
 * from there, in this process or in others: what was answered 200 is not lost with a process.
 *
 * @example
 * const queue = durableQueue({ connection: "redis://127.0.0.1:6379" });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * queue.work(push);
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function durableQueue(options: DurableQueueOptions): DurableQueue {
  const settings = resolveDurableOptions(options);
  const { name, prefix, holdMs, maxHeld } = settings;
  const redis = openConnection(settings, "store");
  const queue = new Queue<StoredEvent>(name, {
    connection: redis,
    prefix,
    // Nobody reads them.
    streams: { events: { maxLen: 100 } },
  });
  // The connection reports its outages itself.
  queue.on("error", () => {});
  const outcomes = createSharedOutcomes(redis, settings);
  const store = createEventStore(queue, redis, settings);
  const letters = createDeadLetters(queue, redis, settings);
  const hold = createHold({ holdMs, maxHeld, attemptMs: ATTEMPT_MS, isNeutral });
  const workers: EventWorker[] = [];
  const storing = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  async function drain({ deadlineMs = 10_000 }: CloseOptions): Promise<void> {
    const finished = Promise.allSettled([...storing, ...workers.map((worker) => worker.close())]);
    const deadline = new AbortController();
    const expired = sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {});
    await Promise.race([finished, expired]);
    deadline.abort();
    for (const worker of workers) worker.disconnect();
    outcomes.close();
    store.close();
    redis.disconnect();
  }

  return {
    ready: store.ready,
    store(call) {
      if (closed !== undefined) {
        return Promise.reject(new WebhookError("CLOSING", "The queue was closed."));
      }
      const keep = store.prepare(call);
      const stored = hold(async () => {
        const outcome = await keep();
        // The outcome of a challenge is that of the first call of its uuid, of no other content.
        const { event } = call;
        if (outcome !== "conflict" && isChallengeEvent(event)) await outcomes.record(event);
        return outcome;
      });
      storing.add(stored);
      const forget = () => storing.delete(stored);
      stored.then(forget, forget);
      return stored;
    },
    waitForChallenge: outcomes.wait,
    work(push, workOptions = {}) {
      checkOptions("work", workOptions, {
        concurrency: wholeNumber(1, 10_000, "events"),
      });
      if (typeof push !== "function" && !hasMethods(push, ["handle"])) {
        throw new TypeError("work: push must be what pushWebhooks() returns.");
      }
      if (closed !== undefined) throw new WebhookError("CLOSING", "The queue was closed.");
      workers.push(startWorker(settings, push, workOptions.concurrency ?? 16));
    },
    deadLetters: letters.list,
    revive: letters.revive,
    discard: letters.discard,
    async stats() {
      const counts = await queue.getJobCounts("wait", "active", "delayed", "failed");
      const { wait = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting: wait, active, delayed, deadLetters: failed };
    },
    close(closeOptions = {}) {
      checkOptions("close", closeOptions, {
        deadlineMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
      });
      return (closed ??= drain(closeOptions));
    },
  };
}

/** Its message names the lines of redis.conf to change: the cause must keep them all. */
function isNeutral(error: unknown): boolean {
  return error instanceof DurabilityError;
}
