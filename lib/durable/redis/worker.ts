import { EventEmitter, once } from "node:events";
import { Worker, type Job } from "bullmq";
import { parseJson } from "../../kit/text";
import { planFailure } from "../failure-plan";
import type { Runner } from "../runner";
import { LEASE_MS, MAX_STALLS, STALLED } from "../lease";
import type { QueueStats } from "../storage";
import type { RunningWorker, WorkerContext } from "../worker";
import { describeRedisError, findRedisRejection, openConnection, readInfo } from "./connection";
import type { RedisDeadLetters } from "./dead-letters";
import { readJobData, type JobData, type Jobs } from "./jobs";
import type { RedisSettings } from "./options";
import { createWorkerBeats, readHold } from "./stats";

/**
 * The event of a killed worker runs again within 5 s, where 6 s are documented: its lock lapses after
 * 4 s, then a check finds it, of which BullMQ skips one that comes a millisecond too early. An event
 * loop that is blocked for 3 s keeps its events.
 */
const LOCK_RENEWAL_MS = 1_000;
const STALLED_CHECK_MS = 500;
// By default, events wait for 15 s after an outage.
const RUN_RETRY_MS = 500;
const BEAT_MS = 2_000;
/** BullMQ takes the next event within 6 s, or reports an error. */
const FAILING_MS = 8_000;
const RESTART_MS = 500;

/** What a worker uses of its queue and store. */
interface WorkerParts extends Pick<WorkerContext, "availability"> {
  settings: RedisSettings;
  jobs: Jobs;
  deadLetters: RedisDeadLetters;
  /** Erases an event. */
  erase: (id: string) => Promise<unknown>;
}

/** A worker of BullMQ that runs handlers for stored events. */
export class RedisWorker implements RunningWorker {
  readonly #runner: Runner;
  readonly #parts: WorkerParts;
  readonly #connection: ReturnType<typeof openConnection>;
  readonly #beats: ReturnType<typeof createWorkerBeats>;
  readonly #id = crypto.randomUUID();
  readonly #beatTimer = setInterval(() => this.#beat(), BEAT_MS).unref();
  /** Undefined before the connection is ready, and between an end and the restart. */
  #bull: Worker<JobData> | undefined;
  #isFinishing = false;
  /** Of the last rejection; undefined while BullMQ takes events. */
  #failedAtMs: number | undefined;
  /** As it was reported last. */
  #hold: QueueStats["hold"];
  /** The jobs whose handlers run. */
  readonly #active = new Set<string | undefined>();
  readonly #state = new EventEmitter<{ idle: []; lost: []; abandoned: [] }>();

  constructor(runner: Runner, parts: WorkerParts) {
    this.#runner = runner;
    this.#parts = parts;
    this.#connection = openConnection(parts.settings, "worker");
    this.#connection.redis.on("close", () => this.#state.emit("lost"));
    this.#beats = createWorkerBeats(this.#connection.redis, parts.settings);
    void this.#start();
  }

  finish(): Promise<void> {
    return this.#finishJobs().finally(() => this.abandon());
  }

  abandon(): void {
    this.#state.emit("abandoned");
    void this.#bull?.close(true).catch(() => {});
    this.#connection.end();
  }

  freedAtMs(): number | undefined {
    return this.#hasStopped() ? undefined : this.#runner.freedAtMs();
  }

  #hasStopped(): boolean {
    return this.#isFinishing;
  }

  async #start(): Promise<void> {
    const info = await readInfo(this.#connection.redis).catch(() => undefined);
    if (this.#hasStopped()) return;
    const worker = this.#openWorker(info === "");
    this.#bull = worker;
    try {
      // run() of a worker that did not connect would try again without a pause.
      await worker.waitUntilReady();
      if (this.#hasStopped()) return;
      const ended = worker.run();
      this.#reportRun();
      await ended;
    } catch {
      // BullMQ before 6 ends at a job that is no JSON.
      void worker.close(true).catch(() => {});
      this.#bull = undefined;
      if (!this.#hasStopped()) setTimeout(() => void this.#start(), RESTART_MS).unref();
    }
  }

  #openWorker(skipVersionCheck: boolean): Worker<JobData> {
    const { name, prefix } = this.#parts.settings;
    const worker = new Worker<JobData>(name, (job) => this.#handleJob(job), {
      connection: this.#connection.redis,
      skipVersionCheck,
      prefix,
      concurrency: this.#runner.concurrency,
      autorun: false,
      lockDuration: LEASE_MS,
      lockRenewTime: LOCK_RENEWAL_MS,
      stalledInterval: STALLED_CHECK_MS,
      // #handleJob() counts instead.
      maxStalledCount: 1_000_000,
      runRetryDelay: RUN_RETRY_MS,
      settings: {
        backoffStrategy: (_attempts, _type, error) => (error as FailedRunError).pauseMs,
      },
    });
    const removeActive = (job?: Job) => this.#removeActive(job?.id);
    worker.on("error", (error) => this.#reportError(error));
    worker.on("active", ({ id }) => void this.#active.add(id));
    worker.on("completed", removeActive);
    worker.on("failed", removeActive);
    return worker;
  }

  /** The connection reports its outages itself. */
  #reportError(error: Error): void {
    if (findRedisRejection(error) === undefined) return;
    if (error.message.startsWith("ERR")) void this.#repairCounts();
    const isFirst = this.#failedAtMs === undefined;
    this.#failedAtMs = performance.now();
    if (!isFirst) return;
    const reason = describeRedisError(error);
    this.#parts.settings.logger?.error({ error: reason }, `A worker cannot take events: ${reason}`);
  }

  /** Scripts of BullMQ fail at the rows of other programs. */
  async #repairCounts(): Promise<void> {
    if (this.#bull !== undefined) await this.#parts.jobs.repairCounts().catch(() => {});
  }

  #beat(): void {
    if (this.#isConnected()) this.#reportHold().catch(() => {});
    if (this.#bull?.isRunning() !== true) return;
    const failedAtMs = this.#failedAtMs ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - failedAtMs >= FAILING_MS) this.#reportRun();
  }

  #isConnected(): boolean {
    return this.#connection.redis.status === "ready";
  }

  #reportRun(): void {
    if (this.#failedAtMs !== undefined) {
      this.#parts.settings.logger?.info({}, "A worker takes events again");
    }
    this.#failedAtMs = undefined;
    if (this.#isConnected()) this.#beats.beat(this.#id).catch(() => {});
  }

  async #reportHold(): Promise<void> {
    const { name, logger } = this.#parts.settings;
    const found = await readHold(this.#connection.redis, this.#parts.settings);
    if (found === this.#hold) return;
    this.#hold = found;
    const text = `The queue ${name} is ${found ?? "paused and limited no more"}`;
    if (found === undefined) return logger?.info({}, text);
    logger?.warn({ code: "QUEUE_PAUSED" }, `${text} in BullMQ by an operator, as with bull-board`);
  }

  async #handleJob(job: Job<JobData>): Promise<void> {
    const { id = "", attemptsStarted, attemptsMade } = job;
    const { body, errors: formerErrors, isErased } = readJobData(job.data);
    if (isErased === true) return;
    const stored = parseJson(body);
    const isStalled = attemptsStarted - attemptsMade - 1 > MAX_STALLS;
    const failure = isStalled
      ? { reason: STALLED, masked: STALLED, isPermanent: true, isForged: false }
      : await this.#runner.handle(stored, attemptsStarted);
    if (failure === undefined) return;
    const { availability, deadLetters, erase, jobs, settings } = this.#parts;
    // The service cannot confirm what a tool of ours invented.
    if (failure.isInvented === true) return void (await availability.writeAtLast(() => erase(id)));
    const plan = planFailure(settings, failure, attemptsMade + 1, formerErrors);
    const { errors, failure: masked, person, pauseMs, isForged } = plan;
    if (pauseMs !== undefined) {
      const data = { body, errors, dueAtMs: Date.now() + pauseMs };
      const isKept = await availability.writeAtLast(() => jobs.update(id, data));
      if (isKept === false) return;
      if (isKept === true) this.#runner.reportFailure(stored, attemptsStarted, failure, false);
      throw new FailedRunError(pauseMs);
    }
    const letter = { body, errors, attempts: attemptsStarted };
    const isBuried = await availability.writeAtLast(() =>
      deadLetters.bury(id, letter, { failure: masked, person }),
    );
    if (isBuried === false) return;
    if (isBuried === undefined) throw new FailedRunError(0);
    if (isForged) await deadLetters.forget(job);
    // For BullMQ, its job is complete.
    this.#runner.reportFailure(stored, attemptsStarted, failure, true);
  }

  #removeActive(id: string | undefined): void {
    this.#active.delete(id);
    if (this.#active.size === 0) this.#state.emit("idle");
  }

  async #finishJobs(): Promise<void> {
    clearInterval(this.#beatTimer);
    this.#isFinishing = true;
    this.#beats.remove(this.#id).catch(() => {});
    const bull = this.#bull;
    if (bull === undefined) return;
    const over = new AbortController();
    const isConnected = this.#isConnected();
    // A Redis that has just stopped counts as connected until its socket has ended.
    const lost = isConnected ? once(this.#state, "lost", over) : Promise.resolve();
    await Promise.race([
      ...(isConnected ? [bull.close()] : []),
      lost.then(() => this.#finishHandlers(bull)),
      once(this.#state, "abandoned", over),
    ]).finally(() => over.abort());
  }

  /** Unlike worker.close(), awaits no Redis that is down. */
  async #finishHandlers(worker: Worker): Promise<void> {
    await worker.pause(true);
    if (this.#active.size > 0) await once(this.#state, "idle");
  }
}

/** Makes BullMQ run a job again. Its message holds nothing of the event: BullMQ keeps it. */
class FailedRunError extends Error {
  constructor(readonly pauseMs: number) {
    super("The handlers failed.");
  }
}
