import { EventEmitter, once } from "node:events";
import { UnrecoverableError, Worker, type Job } from "bullmq";
import type { Redis } from "ioredis";
import { publish } from "../diagnostics";
import type { WebhookError } from "../errors";
import type { PushWebhooks } from "../middleware";
import { openConnection } from "./connection";
import type { DurableSettings } from "./options";
import { readStoredEvent, type StoredEvent } from "./stored-event";

/** Runs handlers for stored events until it is closed. */
export interface EventWorker {
  /** Takes no more events, and resolves when those that run are finished. */
  close(): Promise<void>;
  /** Cuts its connections. What still runs is run again by another worker. */
  disconnect(): void;
}

/**
 * How soon the event of a killed worker is run again: its lock lapses, then the next look finds it.
 * Both together stay below 10 s.
 */
const LOCK_MS = 6_000;
const STALLED_CHECK_MS = 3_000;
// After as many kills in a row the event itself may be what kills.
const MAX_STALLED_COUNT = 20;

/** Starts a worker that hands stored events to the handlers of a receiver. */
export function startWorker(
  settings: DurableSettings,
  push: Pick<PushWebhooks, "handle">,
  concurrency: number,
): EventWorker {
  const { name, prefix, logger } = settings;
  const connection = openConnection(settings, "worker");
  const copies = trackCopies(connection);
  const worker = new Worker<StoredEvent>(name, (job) => handleJob(job, push), {
    connection,
    prefix,
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  });
  // The connection reports its outages itself.
  worker.on("error", () => {});
  worker.on("failed", (job, error) => {
    if (job === undefined || !isDeadLetter(job, error)) return;
    const type = new Map(job.data.params).get("type") ?? "";
    const attempts = job.attemptsStarted;
    publish("dead-lettered", { type, attempts });
    logger?.error({ type, attempts }, "An event is a dead letter now");
  });

  const active = new Set<string | undefined>();
  const finished = new EventEmitter();
  worker.on("active", ({ id }) => void active.add(id));
  const finish = ({ id }: { id?: string | undefined } = {}) => {
    active.delete(id);
    if (active.size === 0) finished.emit("all");
  };
  worker.on("completed", finish);
  worker.on("failed", finish);

  return {
    async close() {
      // Not worker.close(), which cannot be hurried once it waits for a Redis that is out of reach.
      await worker.pause(true);
      if (active.size > 0) await once(finished, "all");
    },
    disconnect() {
      void worker.close(true).catch(() => {});
      for (const one of [connection, ...copies]) one.disconnect();
    },
  };
}

/**
 * The connections that BullMQ makes like this one, for commands that block: it waits for ever for
 * those when Redis is out of reach, and closes none of them.
 */
function trackCopies(connection: Redis): Redis[] {
  const copies: Redis[] = [];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (override) => {
    const copy = duplicate(override);
    copies.push(copy);
    return copy;
  };
  return copies;
}

async function handleJob(job: Job<StoredEvent>, push: Pick<PushWebhooks, "handle">): Promise<void> {
  const { event, authTokenIndex } = readStoredEvent(job.data);
  try {
    await push.handle(event, { attempt: job.attemptsStarted, authTokenIndex });
  } catch (error) {
    const reason = describeFailure(error as WebhookError);
    throw isUnrecoverable(error as WebhookError) ? new UnrecoverableError(reason) : Error(reason);
  }
}

function isUnrecoverable({ cause }: WebhookError): boolean {
  const reasons: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return reasons.some((reason) => reason instanceof Error && reason.name === "UnrecoverableError");
}

function describeFailure({ code, message, cause }: WebhookError): string {
  const reasons: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const texts = reasons.flatMap((reason) => (reason instanceof Error ? [reason.message] : []));
  return `${code}: ${texts.length > 0 ? texts.join("; ") : message}`;
}

function isDeadLetter(job: Job, error: Error): boolean {
  return error.name === "UnrecoverableError" || job.attemptsMade >= (job.opts.attempts ?? 1);
}
