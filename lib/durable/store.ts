import type { BackoffOptions, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { DeliveryOutcome } from "../deliver-once";
import { WebhookError } from "../errors";
import type { QueuedEvent } from "../queue";
import { checkDurability } from "./durability";
import { DurabilityError } from "./durability-error";
import type { Backoff, DurableSettings } from "./options";
import {
  createJobId,
  dedupeIdOf,
  hasContent,
  toStoredEvent,
  type StoredEvent,
} from "./stored-event";

/** Puts events into Redis. */
export interface EventStore {
  /** Resolves once events can be stored; see the queue's method of this name. */
  ready(): Promise<void>;
  /**
   * Creates the attempt to store an event. It may be repeated until it succeeds: however often it
   * is, and whether or not a reply of Redis was lost, the event is stored once.
   */
  prepare(queued: QueuedEvent): () => Promise<DeliveryOutcome>;
  /** Rejects those who still wait to store. */
  close(): void;
}

const REPLICA_TIMEOUT_MS = 1_000;

/**
 * Makes the store of a queue. It stores nothing before the durability of this very connection is
 * checked: each reconnection may reach another server.
 */
export function createEventStore(
  queue: Queue<StoredEvent>,
  redis: Redis,
  settings: DurableSettings,
): EventStore {
  const { attempts, backoff, dedupeTtlMs, replicas, logger } = settings;
  let refusal: Error | undefined = new Error("Redis was not reached yet.");
  let resolveReady!: () => void;
  let rejectReady!: (error: Error) => void;
  const ready = new Promise<void>((resolve, reject) => {
    resolveReady = resolve;
    rejectReady = reject;
  });
  // Nobody need ask; stores are refused then.
  ready.catch(() => {});

  redis.on("ready", () => void check());
  redis.on("close", () => {
    refusal = new Error("Redis is out of reach.");
  });

  async function check(): Promise<void> {
    try {
      await checkDurability(redis, settings);
      refusal = undefined;
      resolveReady();
    } catch (error) {
      refusal = error as Error;
      if (!(error instanceof DurabilityError)) return redis.disconnect(true);
      rejectReady(error);
      if (logger === undefined) process.emitWarning(error.message, { type: "DurabilityWarning" });
      else logger.error({}, error.message);
    }
  }

  return {
    ready: () => ready,
    close: () => rejectReady(new WebhookError("CLOSING", "The queue was closed.")),
    prepare(queued) {
      const jobId = createJobId(queued);
      const stored = toStoredEvent(queued);
      const options = {
        jobId,
        attempts,
        backoff: toBullBackoff(backoff),
        deduplication: { id: dedupeIdOf(queued), ttl: dedupeTtlMs },
        removeOnComplete: true,
        // The failed jobs are the dead letters.
        removeOnFail: false,
        stackTraceLimit: 1,
      };
      return async function keep() {
        if (refusal !== undefined) throw refusal;
        const job = await queue.add("event", stored, options);
        if (replicas > 0) {
          const confirmed = await redis.wait(replicas, REPLICA_TIMEOUT_MS);
          if (confirmed < replicas)
            throw new Error(`${confirmed} replicas of ${replicas} have it.`);
        }
        if (job.id === jobId) return "new";
        return hasContent(job.id ?? "", queued.contentHash) ? "duplicate" : "conflict";
      };
    },
  };
}

/** Returns a backoff as BullMQ takes it. */
export function toBullBackoff({ type, delayMs, jitter = 0 }: Backoff): BackoffOptions {
  return { type, delay: delayMs, jitter };
}
