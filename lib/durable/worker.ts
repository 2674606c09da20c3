import { EventEmitter, once } from "node:events";
import { trace } from "../core/door";
import { parseJson } from "../kit/text";
import { MAX_TIMER_MS } from "../kit/validate-options";
import type { Availability } from "./availability";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import { planFailure } from "./failure-plan";
import type { Runner, RunFailure } from "./runner";
import { BEAT_MS } from "./lease";
import type { ClaimedEvent, Claims, FailedRun } from "./storage";
import type { Member, Run, Storage } from "./storage";

/** Takes events and runs their handlers until it is finished. */
export interface RunningWorker {
  /** Looks for events that are due; undefined when the engine does so itself. */
  look?(): void;
  /** Takes no more events, and resolves when its own are settled, or at `abandon`. */
  finish(): Promise<void>;
  /** Stops waiting for running handlers. */
  abandon(): void;
  /** Since when it took no event, by `performance.now()`; undefined while it runs as many as it may. */
  freedAtMs(): number | undefined;
}

/** Starts the workers of a queue in this process. */
export interface WorkerPool {
  startWorker(runner: Runner, context: WorkerContext): RunningWorker;
  /** Called when the store can be used, first and after each outage. */
  onOpen?(): unknown;
  /** Called before the store is closed. */
  stop?(): void;
}

/** The parts of a queue that its workers use. */
export interface WorkerContext {
  settings: QueueSettings;
  availability: Availability;
  lookForEvents(): void;
}

/** How many events may be settled at a time, beside those whose handlers run. */
const MAX_SETTLING = 128;
/** The pause before the next purge, and before its next slice. */
const PURGE_MS = 5_000;
const SLICE_PAUSE_MS = 10;

/**
 * The workers that claim their events from a storage, and take the events of dead processes. Beats
 * come from the app's thread: a process that is blocked must lose its events.
 */
export class ClaimingPool implements WorkerPool {
  readonly storage: ClaimableStorage;
  readonly context: WorkerContext;
  /** Store the ends of runs in batches; `fail` returns whether a run made its event a dead letter. */
  readonly finish: (run: Run) => Promise<void>;
  readonly fail: (run: FailedRun) => Promise<boolean>;
  /** This process and its workers. */
  readonly #members = new Set<Member>([createMember(false)]);
  readonly #beats = setInterval(() => void this.#beat(), BEAT_MS).unref();
  #purges = this.#schedulePurge(PURGE_MS);
  #isStopped = false;

  constructor(storage: ClaimableStorage, context: WorkerContext) {
    this.storage = storage;
    this.context = context;
    const { availability } = context;
    this.finish = createBatches(async (runs) => {
      await availability.watchWrite(storage.finish(runs));
      return [];
    });
    this.fail = createBatches(async (runs) => {
      const dead = new Set(await availability.watchWrite(storage.fail(runs)));
      return runs.map(({ id }) => dead.has(id));
    }, ORDERED);
  }

  startWorker(runner: Runner): RunningWorker {
    const member = createMember(true);
    this.#members.add(member);
    void this.#beat();
    return new ClaimingWorker(runner, member, this);
  }

  /** Forgets a member when its events are settled; until then it takes no more. */
  async leave(member: Member, settled: Promise<unknown>): Promise<void> {
    member.isWorker = false;
    void this.#beat();
    await settled;
    this.#members.delete(member);
    // Otherwise its row expires.
    await this.storage.leave(member).catch(() => {});
  }

  onOpen(): void {
    void this.#beat();
  }

  stop(): void {
    clearInterval(this.#beats);
    clearTimeout(this.#purges);
    this.#isStopped = true;
  }

  /** Events of other processes may be due afterwards. */
  async #beat(): Promise<void> {
    await this.#attempt(async () => {
      const beat = () => this.storage.beat([...this.#members]);
      await this.context.availability.watchWrite(poll(beat));
      this.context.lookForEvents();
    });
  }

  async #attempt(run: () => Promise<unknown>): Promise<void> {
    try {
      this.context.availability.assertOpen();
      await run();
    } catch {
      // Another operation reports the outage. The next beat makes up for this one.
    }
  }

  #schedulePurge(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#purge(), pauseMs).unref();
  }

  async #purge(): Promise<void> {
    let pauseMs = PURGE_MS;
    await this.#attempt(async () => {
      if (await poll(() => this.storage.purge())) pauseMs = SLICE_PAUSE_MS;
    });
    if (!this.#isStopped) this.#purges = this.#schedulePurge(pauseMs);
  }
}

/** A subscriber may keep these statements out of its traces. */
const poll = <Value>(run: () => Promise<Value>): Promise<Value> =>
  trace("poll", () => ({}), run) as Promise<Value>;

type ClaimableStorage = Claims & Pick<Storage, "erase">;

/** Runs up to `concurrency` events of its runner at a time. */
class ClaimingWorker implements RunningWorker {
  readonly #runner: Runner;
  readonly #member: Member;
  readonly #pool: ClaimingPool;
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

  constructor(runner: Runner, member: Member, pool: ClaimingPool) {
    this.#runner = runner;
    this.#member = member;
    this.#pool = pool;
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

  finish(): Promise<void> {
    this.#isFinishing = true;
    this.#pauses.forEach((pause) => clearTimeout(pause));
    const awaitEnd = () => Promise.race(["idle", "abandon"].map((name) => once(this.#state, name)));
    return this.#pool.leave(this.#member, this.#isIdle() ? Promise.resolve() : awaitEnd());
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
      // After a failure, the next beat claims again, also the events of this claim.
      const claim = () => this.#pool.storage.claim(this.#member.id, ids, count);
      const claimed = await poll(claim).catch(() => []);
      if (this.#pool.context.availability.isOver()) return;
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
    // Otherwise this process would keep the event for ever.
    const settled =
      failure === undefined
        ? this.#pool.context.availability.writeAtLast(() => this.#pool.finish({ id, started }))
        : this.#fail(event, failure);
    if (this.#isDue) this.look();
    await settled;
    this.#held.delete(event);
    if (this.#isDue) this.look();
    this.#reportIfIdle();
  }

  async #fail(event: ClaimedEvent, failure: RunFailure): Promise<void> {
    const { id, started, body, errors } = event;
    const { settings, availability } = this.#pool.context;
    // The service cannot confirm what a tool of ours invented.
    const discard = () => this.#pool.storage.erase("event", [String(id)]);
    if (failure.isInvented === true) return void (await availability.writeAtLast(discard));
    const plan = planFailure(settings, failure, event.failures + 1, errors);
    const failRun = () => this.#pool.fail({ id, started, ...plan });
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

/** Its id has the digits of a uuid before the second hyphen. */
function createMember(isWorker: boolean): Member {
  return { id: Number.parseInt(crypto.randomUUID().replace("-", ""), 16), isWorker };
}
