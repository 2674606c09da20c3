import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode, Worker, type Job } from "bullmq";
import { parseJson } from "../../kit/text";
import { planFailure, type Runner } from "../runner";
import { LEASE_MS, MAX_STALLS, STALLED } from "../storage";
import { addFailure } from "../stored-event";
import type { RunningWorker, WorkerContext } from "../worker";
import { describeRedisError, findRedisRejection, openConnection, readInfo } from "./connection";
import type { RedisDeadLetters } from "./dead-letters";
import { readJobData, type JobData, type Jobs } from "./jobs";
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
/** Before the lock of a job that stalled, and was given to a worker at once, lapses again. */
const LOCKED_MS = LEASE_MS - 100;
/** How long, and how often, the removal of such a job is tried: it is free for some 10 ms only. */
const REMOVAL_MS = 2_000;
const REMOVAL_PAUSE_MS = 5;
const UNREADABLE =
  "INTERNAL_ERROR: Its job is no JSON, which this package does not write. Find the program that changed it.";
const BEAT_MS = 2_000;
/** BullMQ takes the next event within 6 s, or reports an error. */
const FAILING_MS = 8_000;
const RESTART_MS = 500;

/** Starts a worker of BullMQ that runs handlers for stored events. */
export function startRedisWorker(
  runner: Runner,
  { availability }: WorkerContext,
  {
    settings,
    jobs,
    deadLetters,
  }: { settings: RedisSettings; jobs: Jobs; deadLetters: RedisDeadLetters },
): RunningWorker {
  const { name, prefix, logger } = settings;
  const { redis, end: endConnection } = openConnection(settings, "worker");
  const beats = createWorkerBeats(redis, settings);
  const workerId = crypto.randomUUID();
  let bull: Worker<JobData> | undefined;
  const stopping = new AbortController();
  let failedAtMs: number | undefined;
  const active = new Set<string | undefined>();
  const state = new EventEmitter();
  void start();

  const hasStopped = () => stopping.signal.aborted;

  async function start(): Promise<void> {
    const isInfoRejected = (await readInfo(redis).catch(() => undefined)) === "";
    if (hasStopped()) return;
    const worker = openWorker(isInfoRejected);
    bull = worker;
    try {
      // run() of a worker that failed to connect would try again without a pause.
      await worker.waitUntilReady();
      if (hasStopped()) return;
      const ended = worker.run();
      reportRun();
      await ended;
    } catch {
      // BullMQ before 6 ends at a job that is no JSON.
      void worker.close(true).catch(() => {});
      bull = undefined;
      if (!hasStopped()) setTimeout(() => void start(), RESTART_MS).unref();
    }
  }

  function openWorker(skipVersionCheck: boolean): Worker<JobData> {
    const worker = new Worker<JobData>(name, handleJob, {
      connection: redis,
      skipVersionCheck,
      prefix,
      concurrency: runner.concurrency,
      autorun: false,
      lockDuration: LEASE_MS,
      lockRenewTime: LOCK_RENEWAL_MS,
      stalledInterval: STALLED_CHECK_MS,
      // handleJob() counts instead.
      maxStalledCount: 1_000_000,
      runRetryDelay: RUN_RETRY_MS,
      settings: {
        backoffStrategy: (_attempts, _type, error) => (error as FailedRunError).pauseMs,
      },
    });
    worker.on("error", reportError);
    worker.on("stalled", (id) => void buryUnreadable(id).catch(() => {}));
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

  /**
   * Makes a dead letter of a job that BullMQ cannot read: it gives the job to a worker, whose lock
   * lapses, again and again. If this fails, the job stalls again.
   */
  async function buryUnreadable(id: string): Promise<void> {
    await sleep(LOCKED_MS, undefined, { ref: false, signal: stopping.signal });
    if ((await jobs.read(id)) !== undefined) return;
    if ((await jobs.queue().getJobState(id)) === "unknown") return;
    const letter = { body: "", errors: addFailure(null, { reason: UNREADABLE }), attempts: 0 };
    await deadLetters.bury(id, letter);
    // It can be removed when its lock has lapsed, until BullMQ gives it to a worker again.
    const endAtMs = performance.now() + REMOVAL_MS;
    while (!hasStopped() && performance.now() < endAtMs) {
      if ((await jobs.queue().remove(id)) > 0) {
        return runner.reportDeadLetter("", letter.attempts, UNREADABLE);
      }
      await sleep(REMOVAL_PAUSE_MS, undefined, { ref: false });
    }
  }

  async function handleJob(job: Job<JobData>): Promise<void> {
    const { id = "", attemptsStarted, attemptsMade } = job;
    const { body, errors: formerErrors } = readJobData(job.data);
    const stored = parseJson(body);
    const isStalled = attemptsStarted - attemptsMade - 1 > MAX_STALLS;
    const failure = isStalled
      ? { reason: STALLED, isPermanent: true, isForged: false }
      : await runner.handle(stored, attemptsStarted);
    if (failure === undefined) return;
    const failures = attemptsMade + 1;
    const { errors, pauseMs, isForged } = planFailure(settings, failure, failures, formerErrors);
    if (pauseMs !== undefined) {
      const data = { body, errors, dueAtMs: Date.now() + pauseMs };
      await availability.writeAtLast(() => job.updateData(data).catch(ignoreMissing));
      throw new FailedRunError(pauseMs);
    }
    const letter = { body, errors, attempts: attemptsStarted };
    const bury = () => deadLetters.bury(id, letter).then(() => true);
    if ((await availability.writeAtLast(bury)) !== true) throw new FailedRunError(0);
    if (isForged) await deadLetters.forget(job);
    // From here on the event is a dead letter, and for BullMQ its job is complete.
    runner.reportDeadLetter(stored, attemptsStarted, failure.reason);
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
    stopping.abort();
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
    finish: () => finish().finally(abandon),
    abandon,
    freedAtMs: () => (hasStopped() ? undefined : runner.freedAtMs()),
  };
}

/** Makes BullMQ run a job again. Its message holds nothing of the event: BullMQ keeps it. */
class FailedRunError extends Error {
  constructor(readonly pauseMs: number) {
    super("The handlers failed.");
  }
}

/** Another worker finished the job of a worker that hung. */
function ignoreMissing(error: unknown): void {
  if ((error as { code?: unknown }).code !== ErrorCode.JobNotExist) throw error;
}
