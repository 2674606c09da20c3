import { EventEmitter, once } from "node:events";
import { trace } from "../core/door";
import { parseJson } from "../kit/text";
import { MAX_TIMER_MS } from "../kit/validate-options";
import type { Availability } from "./availability";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import { planFailure, type Runner, type RunFailure } from "./runner";
import { BEAT_MS, type ClaimedEvent, type Claims, type FailedRun } from "./storage";
import type { Member, Run, Storage } from "./storage";

/** Takes events and runs their handlers until it is finished. */
export interface RunningWorker {
  /** Looks for events that are due; undefined when the engine does so itself. */
  look?(): void;
  /** Takes no more events, and resolves when those that it took are settled, or at `abandon`. */
  finish(): Promise<void>;
  /** Stops waiting for running handlers. */
  abandon(): void;
  /**
   * Since when it could take an event and took none, in milliseconds of `performance.now()`;
   * undefined while it runs as many as it may.
   */
  freedAtMs(): number | undefined;
}

/** Starts the workers of a queue in this process. */
export interface WorkerPool {
  startWorker(runner: Runner, context: WorkerContext): RunningWorker;
  /** Called when the store can be used, for the first time and after an outage. */
  onOpen?(): unknown;
  /** Called before the store is closed. */
  stop?(): void;
}

/** The parts of a queue that its workers use. */
export interface WorkerContext {
  settings: QueueSettings;
  availability: Availability;
  /** Has each worker of this process look for events. */
  lookForEvents(): void;
}

/** How many events may be on their way to be finished, beside those whose handlers run. */
const MAX_SETTLING = 128;
/** The pause between purges: before the next one, and before the next slice of one. */
const PURGE_MS = 5_000;
const SLICE_PAUSE_MS = 10;

/**
 * The workers that claim their events from a storage. They show that this process is alive, and take
 * the events of processes that are not. Beats come from the app's thread: a process that is blocked
 * must lose its events to others.
 */
export class ClaimingPool implements WorkerPool {
  readonly #storage: ClaimableStorage;
  readonly #context: WorkerContext;
  /** This process and its workers, which are shown alive. */
  readonly #members = new Set<Member>([createMember(false)]);
  readonly #beats = setInterval(() => void this.#beat(), BEAT_MS).unref();
  #purges = this.#schedulePurge(PURGE_MS);
  #isStopped = false;
  readonly #settling: Settling;

  constructor(storage: ClaimableStorage, context: WorkerContext) {
    this.#storage = storage;
    this.#context = context;
    const { availability } = context;
    this.#settling = {
      finish: createBatches(async (runs) => {
        await availability.watchWrite(storage.finish(runs));
        return [];
      }),
      fail: createBatches(async (runs) => {
        const dead = new Set(await availability.watchWrite(storage.fail(runs)));
        return runs.map(({ id }) => dead.has(id));
      }, ORDERED),
    };
  }

  startWorker(runner: Runner): RunningWorker {
    const member = createMember(true);
    const worker = new ClaimingWorker(runner, member, this.#storage, this.#context, this.#settling);
    this.#members.add(member);
    void this.#beat();
    return {
      look: () => worker.look(),
      finish: () => this.#finish(worker, member),
      abandon: () => worker.abandon(),
      freedAtMs: () => worker.freedAtMs(),
    };
  }

  onOpen(): void {
    void this.#beat();
  }

  stop(): void {
    clearInterval(this.#beats);
    clearTimeout(this.#purges);
    this.#isStopped = true;
  }

  async #finish(worker: ClaimingWorker, member: Member): Promise<void> {
    const finished = worker.finish();
    member.isWorker = false;
    void this.#beat();
    await finished;
    this.#members.delete(member);
    // If the store cannot be used any more, the row of the member expires.
    if (!this.#context.availability.isOver()) await this.#storage.leave(member).catch(() => {});
  }

  /** Events that another process stored, or lost, may be due afterwards. */
  async #beat(): Promise<void> {
    await this.#attempt(async () => {
      const beat = () => this.#storage.beat([...this.#members]);
      await this.#context.availability.watchWrite(poll(beat));
      this.#context.lookForEvents();
    });
  }

  async #attempt(run: () => Promise<unknown>): Promise<void> {
    try {
      this.#context.availability.assertOpen();
      await run();
    } catch {
      // Another operation reports the outage. The next beat makes up for this one.
    }
  }

  #schedulePurge(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#purge(), pauseMs).unref();
  }

  /** Goes on at once while there is more: what has expired is removed as fast as it came. */
  async #purge(): Promise<void> {
    let pauseMs = PURGE_MS;
    await this.#attempt(async () => {
      if (await poll(() => this.#storage.purge())) pauseMs = SLICE_PAUSE_MS;
    });
    if (!this.#isStopped) this.#purges = this.#schedulePurge(pauseMs);
  }
}

/** A subscriber may keep these statements out of its traces. */
const poll = <Value>(run: () => Promise<Value>): Promise<Value> =>
  trace("poll", () => ({}), run) as Promise<Value>;

type ClaimableStorage = Claims & Pick<Storage, "erase">;

/** Stores the ends of runs, in batches. */
interface Settling {
  finish: (run: Run) => Promise<void>;
  /** Resolves with whether the run made the event a dead letter. */
  fail: (run: FailedRun) => Promise<boolean>;
}

/** Runs up to `concurrency` events of its runner at a time. */
class ClaimingWorker implements RunningWorker {
  readonly #runner: Runner;
  readonly #member: Member;
  readonly #storage: ClaimableStorage;
  readonly #context: WorkerContext;
  readonly #settling: Settling;
  /** The runs whose end is not stored. */
  readonly #held = new Set<Run>();
  /** The pauses before failed events are due. */
  readonly #pauses = new Set<NodeJS.Timeout>();
  /** How many handlers run. */
  #running = 0;
  /** Whether an event may be due since the last claim. */
  #isDue = false;
  #claiming: Promise<void> | undefined;
  #isFinishing = false;
  readonly #state = new EventEmitter<{ idle: []; abandon: [] }>();

  constructor(
    runner: Runner,
    member: Member,
    storage: ClaimableStorage,
    context: WorkerContext,
    settling: Settling,
  ) {
    this.#runner = runner;
    this.#member = member;
    this.#storage = storage;
    this.#context = context;
    this.#settling = settling;
  }

  /** Claims after all callbacks of this turn: handlers that finish in it share a claim. */
  look(): void {
    this.#isDue = true;
    if (this.#claiming !== undefined || this.#isFinishing) return;
    const turn = new Promise((resolve) => setImmediate(resolve));
    this.#claiming = turn
      .then(() => this.#claimAll())
      .finally(() => {
        this.#claiming = undefined;
        // Events became due while the claim ran.
        if (this.#isDue && this.#canTake()) this.look();
        this.#reportIfIdle();
      });
  }

  async finish(): Promise<void> {
    this.#isFinishing = true;
    this.#pauses.forEach((pause) => clearTimeout(pause));
    if (this.#isIdle()) return;
    await Promise.race([once(this.#state, "idle"), once(this.#state, "abandon")]);
  }

  abandon(): void {
    this.#state.emit("abandon");
  }

  freedAtMs(): number | undefined {
    return this.#isFinishing ? undefined : this.#runner.freedAtMs();
  }

  #isIdle(): boolean {
    return this.#held.size === 0 && this.#claiming === undefined;
  }

  #canTake(): boolean {
    const isFree = this.#running < this.#runner.concurrency;
    return !this.#isFinishing && isFree && this.#held.size - this.#running < MAX_SETTLING;
  }

  async #claimAll(): Promise<void> {
    while (this.#isDue && this.#canTake()) {
      this.#isDue = false;
      const count = this.#runner.concurrency - this.#running;
      const ids = [...this.#held].map(({ id }) => id);
      // After a failure, the next beat leads to another claim, which also returns the events of this one.
      const claim = () => this.#storage.claim(this.#member.id, ids, count);
      const claimed = await poll(claim).catch(() => []);
      if (this.#context.availability.isOver()) return;
      for (const event of claimed) void this.#handle(event);
      if (claimed.length >= count) this.#isDue = true;
    }
  }

  async #handle(event: ClaimedEvent): Promise<void> {
    this.#held.add(event);
    this.#running++;
    const { id, started, body, attempt } = event;
    const failure = await this.#runner.handle(parseJson(body), attempt);
    this.#running--;
    // Goes on until the store has it: otherwise this process would keep the event for ever.
    const settled =
      failure === undefined
        ? this.#context.availability.writeAtLast(() => this.#settling.finish({ id, started }))
        : this.#fail(event, failure);
    if (this.#isDue) this.look();
    await settled;
    this.#held.delete(event);
    if (this.#isDue) this.look();
    this.#reportIfIdle();
  }

  async #fail(event: ClaimedEvent, failure: RunFailure): Promise<void> {
    const { id, started, body, errors } = event;
    const { settings, availability } = this.#context;
    // The service cannot confirm what a tool of ours invented.
    const discard = () => this.#storage.erase("event", [String(id)]);
    if (failure.isInvented === true) return void (await availability.writeAtLast(discard));
    const plan = planFailure(settings, failure, event.failures + 1, errors);
    const failRun = () => this.#settling.fail({ id, started, ...plan });
    const isDead = await availability.writeAtLast(failRun);
    // Another worker settles a run that is not the last one of its event.
    if (isDead === (plan.pauseMs === undefined)) {
      this.#runner.reportFailure(parseJson(body), event.attempt, failure, isDead);
    }
    if (plan.pauseMs === undefined || this.#isFinishing) return;
    const endPause = () => {
      this.#pauses.delete(pause);
      this.look();
    };
    const pause = setTimeout(endPause, Math.min(plan.pauseMs + 1, MAX_TIMER_MS)).unref();
    this.#pauses.add(pause);
  }

  #reportIfIdle(): void {
    if (this.#isIdle()) this.#state.emit("idle");
  }
}

/** Its identifier is a random integer below 2^48: the digits of a uuid before its second hyphen. */
function createMember(isWorker: boolean): Member {
  return { id: Number.parseInt(crypto.randomUUID().replace("-", ""), 16), isWorker };
}
