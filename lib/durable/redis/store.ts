import type { BackoffOptions, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { DeliveryResult } from "../../observability/diagnostics";
import { isChallengeEvent } from "../../event/event";
import type { QueuedEvent } from "../../delivery/event-queue";
import type { Backoff } from "../backoff";
import {
  createJobId,
  dedupeIdOf,
  hasContent,
  toStoredEvent,
  type StoredEvent,
} from "../stored-event";
import { createMemoryCheck } from "./memory";
import type { RedisSettings } from "./options";
import type { RedisOutcomes } from "./outcomes";
import type { Readiness } from "./readiness";
import { createReplicaConfirmation } from "./replicas";

/** The parts of a queue that stores events. */
export interface StoreParts {
  getQueue: () => Queue<StoredEvent>;
  redis: Redis;
  outcomes: RedisOutcomes;
  readiness: Readiness;
}

/**
 * Creates the function that prepares an attempt to store an event and the outcome of its challenge.
 * The attempt may be repeated until it succeeds: the event is stored once, however often a reply of
 * Redis is lost.
 */
export function createPrepareStore(
  { getQueue, redis, outcomes, readiness }: StoreParts,
  settings: RedisSettings,
): (queued: QueuedEvent) => () => Promise<DeliveryResult> {
  const { prefix, name, attempts, backoff, dedupeTtlMs, replicas } = settings;
  const assertMemory = createMemoryCheck(redis, settings);
  const confirm = replicas > 0 ? createReplicaConfirmation(redis, settings) : undefined;

  return function prepare(queued) {
    const { event, account, contentHash } = queued;
    const jobId = createJobId(queued);
    const stored = toStoredEvent(queued);
    const dedupeId = dedupeIdOf(queued);
    const first = { jobId, dedupeKey: `${prefix}:${name}:de:${dedupeId}` };
    const options = {
      jobId,
      attempts,
      backoff: toBullBackoff(backoff),
      deduplication: { id: dedupeId, ttl: dedupeTtlMs },
      removeOnComplete: true,
      stackTraceLimit: 1,
    };
    const record = isChallengeEvent(event)
      ? () => outcomes.recordFirst(first, account, event)
      : undefined;

    return async function attempt() {
      readiness.assertReady();
      assertMemory();
      const adding = getQueue().add("event", stored, options);
      // In the same round trip. It records nothing if Redis runs it before the job is there.
      const recording = record && settleRecording(afterMicrotasks().then(record));
      const job = await adding;
      const isNew = job.id === jobId;
      if (isNew && record !== undefined) await completeRecord(record, await recording);
      await confirm?.(first.dedupeKey);
      if (isNew) return "new";
      const hasOneOf = (hashes: readonly string[]) =>
        hashes.some((hash) => hasContent(job.id ?? "", hash));
      const isEqual = hasOneOf([contentHash]) || hasOneOf(queued.listOtherHashes?.() ?? []);
      return isEqual ? "duplicate" : "conflict";
    };
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
