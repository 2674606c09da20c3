import { EventEmitter, once } from "node:events";
import { UnrecoverableError, Worker, type Job } from "bullmq";
import type { Handlers } from "../../delivery/handler-registry";
import { createEventRunner, type RunFailure, type RunnerParts } from "../event-runner";
import type { WorkOptions } from "../durable-queue";
import { LEASE_MS, MAX_STALLS } from "../storage";
import { writeFailure, type StoredEvent } from "../stored-event";
import type { QueueWorker } from "../worker";
import { describeRedisError, findRedisRejection, openConnection, readInfo } from "./connection";
import type { RedisSettings } from "./options";
import { createWorkerBeats } from "./stats";

/**
 * How soon the event of a killed worker runs again: its lock lapses after 4 s, then a check finds it.
 * BullMQ skips a check that comes a millisecond too early, as many do, so checks may be twice as far
 * apart: together 5 s, where 6 s are documented. An event loop that is blocked for 3 s keeps its events.
 */
const LOCK_RENEWAL_MS = 1_000;
const STALLED_CHECK_MS = 500;
// The default of BullMQ, 15 s, leaves events waiting that long after an outage.
const RUN_RETRY_MS = 500;
const BEAT_MS = 2_000;
/** BullMQ takes the next event within 6 s, or reports an error. */
const FAILING_MS = 8_000;
const RESTART_MS = 500;

/** Starts a worker of BullMQ that runs handlers for stored events. */
export function startRedisWorker(
  parts: RunnerParts & { settings: RedisSettings },
  handlers: Handlers,
  workOptions: WorkOptions,
): QueueWorker {
  const { settings } = parts;
  const { name, prefix, logger, maxDeadLetters } = settings;
  const runner = createEventRunner(handlers, workOptions, parts);
  const { redis, end: endConnection } = openConnection(settings, "worker");
  const beats = createWorkerBeats(redis, settings);
  const workerId = crypto.randomUUID();
  let bull: Worker<StoredEvent> | undefined;
  let isStopped = false;
  let failedAtMs: number | undefined;
  let isLimitReached = false;
  const active = new Set<string | undefined>();
  const state = new EventEmitter();
  void start();

  const hasStopped = () => isStopped;

  async function start(): Promise<void> {
    const isInfoRejected = (await readInfo(redis).catch(() => undefined)) === "";
    if (isStopped) return;
    bull = openWorker(isInfoRejected);
    try {
      await bull.waitUntilReady();
    } catch {
      // run() of a worker that failed to connect would try again without a pause.
      void bull.close(true).catch(() => {});
      bull = undefined;
      if (!hasStopped()) setTimeout(() => void start(), RESTART_MS).unref();
      return;
    }
    if (hasStopped()) return;
    bull.run().catch(reportError);
    reportRun();
  }

  function openWorker(skipVersionCheck: boolean): Worker<StoredEvent> {
    const worker = new Worker<StoredEvent>(name, handleJob, {
      connection: redis,
      skipVersionCheck,
      prefix,
      concurrency: runner.concurrency,
      autorun: false,
      lockDuration: LEASE_MS,
      lockRenewTime: LOCK_RENEWAL_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RUN_RETRY_MS,
      // The failed jobs are the dead letters.
      removeOnFail: { count: maxDeadLetters },
    });
    worker.on("error", reportError);
    worker.on("failed", reportDeadLetter);
    worker.on("active", ({ id }) => void active.add(id));
    worker.on("completed", removeActive);
    worker.on("failed", removeActive);
    return worker;
  }

  /** The connection reports its outages itself; BullMQ reports the rejections of Redis here. */
  function reportError(error: Error): void {
    if (findRedisRejection(error) === undefined) return;
    const isFirst = failedAtMs === undefined;
    failedAtMs = performance.now();
    if (!isFirst) return;
    const reason = describeRedisError(error);
    logger?.error({ error: reason }, `A worker cannot take events: ${reason}`);
  }

  function reportRun(): void {
    if (failedAtMs !== undefined) logger?.info({}, "A worker takes events again");
    failedAtMs = undefined;
    // A worker that cannot count itself does not count: stats() then shows one less.
    if (redis.status === "ready") beats.beat(workerId).catch(() => {});
  }

  const beatTimer = setInterval(() => {
    if (bull?.isRunning() !== true) return;
    if (failedAtMs === undefined || performance.now() - failedAtMs >= FAILING_MS) reportRun();
  }, BEAT_MS).unref();

  function reportDeadLetter(job: Job<StoredEvent> | undefined, error: Error): void {
    if (job === undefined || !isDeadLetter(job, error)) return;
    runner.reportDeadLetter(job.data, job.attemptsStarted, error.message);
    redis.zcard(`${prefix}:${name}:failed`).then(reportLimit, () => {});
  }

  function reportLimit(count: number): void {
    const wasReached = isLimitReached;
    isLimitReached = count >= maxDeadLetters;
    if (wasReached || !isLimitReached) return;
    logger?.error({ maxDeadLetters }, "Each further dead letter discards the oldest one");
  }

  async function handleJob(job: Job<StoredEvent>): Promise<void> {
    const failure = await runner.handle(job.data, job.attemptsStarted);
    if (failure !== undefined) throw createJobError(failure);
  }

  function removeActive({ id }: { id?: string | undefined } = {}): void {
    active.delete(id);
    if (active.size === 0) state.emit("idle");
  }

  /** Like worker.close(), which awaits the event that is being fetched, but also a Redis that is down. */
  async function finishHandlers(worker: Worker): Promise<void> {
    await worker.pause(true);
    if (active.size > 0) await once(state, "idle");
  }

  async function finish(): Promise<void> {
    clearInterval(beatTimer);
    isStopped = true;
    beats.remove(workerId).catch(() => {});
    if (bull === undefined) return;
    const finished = redis.status === "ready" ? bull.close() : finishHandlers(bull);
    await Promise.race([finished, once(state, "abandoned")]);
  }

  function abandon(): void {
    state.emit("abandoned");
    void bull?.close(true).catch(() => {});
    endConnection();
  }

  return {
    // BullMQ looks for events itself.
    look() {},
    finish: () => finish().finally(abandon),
    abandon,
    freeSinceMs: () => (isStopped ? undefined : runner.freeSinceMs()),
  };
}

/** BullMQ keeps the stacks of the last attempts with the job: here each is the failed attempt. */
function createJobError({ reason, isPermanent }: RunFailure): Error {
  const error = isPermanent ? new UnrecoverableError(reason) : new Error(reason);
  error.stack = writeFailure(reason);
  return error;
}

function isDeadLetter(job: Job, error: Error): boolean {
  return error.name === "UnrecoverableError" || job.attemptsMade >= (job.opts.attempts ?? 1);
}
