import type { BackoffOptions } from "bullmq";
import type { Redis } from "ioredis";
import type { DeliveryResult } from "../../observability/diagnostics";
import { isChallengeEvent } from "../../event/event";
import type { QueuedEvent } from "../../delivery/event-queue";
import type { Backoff } from "../backoff";
import { createJobId, dedupeIdOf, hasContent, toStoredEvent } from "../stored-event";
import type { BullQueue } from "./bull-queue";
import { createMemoryGuard, estimateBytes } from "./memory-guard";
import type { RedisSettings } from "./options";
import type { RedisOutcomes } from "./outcomes";
import type { Readiness } from "./readiness";
import { createReplicaConfirmation } from "./replica-confirmation";

/** Puts events into Redis. */
export interface EventStore {
  /**
   * Creates the attempt to store an event and the outcome of its challenge. It may be repeated until
   * it succeeds: the event is stored once, however often a reply of Redis is lost.
   */
  prepare(queued: QueuedEvent): () => Promise<DeliveryResult>;
  close(): void;
}

/** The parts of a queue that an event store uses. */
export interface EventStoreParts {
  bull: BullQueue;
  redis: Redis;
  outcomes: RedisOutcomes;
  readiness: Readiness;
}

/** Creates the store of a queue. */
export function createEventStore(
  { bull, redis, outcomes, readiness }: EventStoreParts,
  settings: RedisSettings,
): EventStore {
  const { prefix, name, attempts, backoff, dedupeTtlMs, replicas } = settings;
  const memory = createMemoryGuard(redis, settings);
  const confirmation =
    replicas > 0 ? createReplicaConfirmation(settings, () => redis.disconnect(true)) : undefined;

  return {
    prepare(queued) {
      const { event, account, contentHash } = queued;
      const jobId = createJobId(queued);
      const stored = toStoredEvent(queued);
      const bytes = estimateBytes(stored.params);
      const dedupeId = dedupeIdOf(queued);
      const first = { jobId, dedupeKey: `${prefix}:${name}:de:${dedupeId}` };
      const options = {
        jobId,
        attempts,
        backoff: toBullBackoff(backoff),
        deduplication: { id: dedupeId, ttl: dedupeTtlMs },
        removeOnComplete: true,
        // The failed jobs are the dead letters.
        removeOnFail: false,
        stackTraceLimit: 1,
      };
      const record = isChallengeEvent(event)
        ? () => outcomes.recordFirst(first, account, event)
        : undefined;

      return async function attempt() {
        readiness.assertReady();
        const admitted = memory.admit(bytes);
        if (admitted !== undefined) await admitted;
        const adding = bull.current().add("event", stored, options);
        // In the same round trip. It records nothing if Redis runs it before the job is there.
        const recording = record && settleRecording(afterMicrotasks().then(record));
        const job = await adding;
        const isNew = job.id === jobId;
        if (isNew && record !== undefined) await completeRecord(record, await recording);
        await confirmation?.confirm(first.dedupeKey);
        if (isNew) return "new";
        const hasOneOf = (hashes: readonly string[]) =>
          hashes.some((hash) => hasContent(job.id ?? "", hash));
        const isEqual = hasOneOf([contentHash]) || hasOneOf(queued.listOtherHashes?.() ?? []);
        return isEqual ? "duplicate" : "conflict";
      };
    },
    close: () => confirmation?.close(),
  };
}

type Settled = { isRecorded: boolean } | { error: unknown } | undefined;

/** A duplicate has nothing to record: the failure of its attempt to do so does not matter. */
function settleRecording(recording: Promise<boolean>): Promise<Settled> {
  return recording.then(
    (isRecorded) => ({ isRecorded }),
    (error: unknown) => ({ error }),
  );
}

async function completeRecord(record: () => Promise<boolean>, settled: Settled): Promise<void> {
  if (settled !== undefined && "error" in settled) throw settled.error;
  if (settled?.isRecorded !== true) await record();
}

/** Resolves when BullMQ, which awaits promises that are resolved, has sent its command. */
function afterMicrotasks(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}

/** Returns a backoff as BullMQ takes it. */
export function toBullBackoff({ type, delayMs, jitter = 0 }: Backoff): BackoffOptions {
  return { type, delay: delayMs, jitter };
}
