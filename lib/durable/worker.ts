import { EventEmitter, once } from "node:events";
import { parseJson } from "../kit/text";
import { MAX_TIMER_MS } from "../kit/validate-options";
import type { Availability } from "./availability";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import { planFailure, type Runner, type RunFailure } from "./runner";
import { BEAT_MS, type Claims, type ClaimedEvent, type FailedRun } from "./storage";
import type { Member, Run } from "./storage";

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
const PURGE_MS = 5_000;

/**
 * Creates the workers that claim their events from a storage. They show that this process is alive, and
 * take the events of those that are not. Beats come from the app's thread: a process that is blocked
 * must lose its events to others.
 */
export function createWorkerPool(
  storage: Claims,
  { settings, availability, lookForEvents }: WorkerContext,
): WorkerPool {
  /** Those that are shown alive: this process, and its workers. */
  const members = new Set<Member>([createMember(false)]);
  const finishRun = createBatches(async (runs: readonly Run[]) => {
    await availability.watchWrite(storage.finish(runs));
    return [];
  });
  /** Resolves with whether the run made the event a dead letter. */
  const failRun = createBatches(async (runs: readonly FailedRun[]) => {
    const dead = new Set(await availability.watchWrite(storage.fail(runs)));
    return runs.map(({ id }) => dead.has(id));
  }, ORDERED);

  async function attempt(run: () => Promise<unknown>): Promise<void> {
    try {
      availability.assertOpen();
      await run();
    } catch {
      // Another operation reports the outage. The next beat makes up for this one.
    }
  }

  /** Events that another process stored, or lost, may be due afterwards. */
  const beat = () =>
    attempt(() => availability.watchWrite(storage.beat([...members])).then(lookForEvents));
  const timers = [
    setInterval(() => void beat(), BEAT_MS).unref(),
    setInterval(() => void attempt(() => storage.purge()), PURGE_MS).unref(),
  ];

  /** Starts a worker that runs up to `concurrency` events of its runner at a time. */
  function startWorker(runner: Runner): RunningWorker {
    const { concurrency } = runner;
    const member = createMember(true);
    /** The runs whose end is not stored. */
    const held = new Set<Run>();
    /** The pauses before failed events are due. */
    const pauses = new Set<NodeJS.Timeout>();
    let running = 0;
    let isDue = false;
    let claiming: Promise<void> | undefined;
    let isFinishing = false;
    const state = new EventEmitter<{ idle: []; abandon: [] }>();
    const isIdle = () => held.size === 0 && claiming === undefined;

    /** Claims after all callbacks of this turn: handlers that finish in it share a claim. */
    function look(): void {
      isDue = true;
      if (claiming !== undefined || isFinishing) return;
      claiming = new Promise((resolve) => setImmediate(resolve)).then(claimAll).finally(() => {
        claiming = undefined;
        // Events became due while the claim ran.
        if (isDue && canTake()) look();
        reportIfIdle();
      });
    }

    function canTake(): boolean {
      return !isFinishing && running < concurrency && held.size - running < MAX_SETTLING;
    }

    async function claimAll(): Promise<void> {
      while (isDue && canTake()) {
        isDue = false;
        const count = concurrency - running;
        const ids = [...held].map(({ id }) => id);
        // After a failure, the next beat leads to another claim, which also returns the events of this one.
        const claimed = await storage.claim(member.id, ids, count).catch(() => []);
        if (availability.isOver()) return;
        for (const event of claimed) void handle(event);
        if (claimed.length >= count) isDue = true;
      }
    }

    async function handle(event: ClaimedEvent): Promise<void> {
      held.add(event);
      running++;
      const { id, started, body, attempt: count } = event;
      const failure = await runner.handle(parseJson(body), count);
      running--;
      // Goes on until the store has it: otherwise this process would keep the event for ever.
      const settled =
        failure === undefined
          ? availability.writeAtLast(() => finishRun({ id, started }))
          : fail(event, failure);
      if (isDue) look();
      await settled;
      held.delete(event);
      if (isDue) look();
      reportIfIdle();
    }

    async function fail(event: ClaimedEvent, failure: RunFailure): Promise<void> {
      const { id, started, body, errors } = event;
      const plan = planFailure(settings, failure, event.failures + 1, errors);
      const isDead = await availability.writeAtLast(() => failRun({ id, started, ...plan }));
      if (isDead === true) {
        runner.reportDeadLetter(parseJson(body), event.attempt, failure.reason);
      }
      if (plan.pauseMs !== undefined && !isFinishing) {
        const pause = setTimeout(endPause, Math.min(plan.pauseMs + 1, MAX_TIMER_MS)).unref();
        pauses.add(pause);
        function endPause(): void {
          pauses.delete(pause);
          look();
        }
      }
    }

    function reportIfIdle(): void {
      if (isIdle()) state.emit("idle");
    }

    members.add(member);
    void beat();
    return {
      look,
      async finish() {
        isFinishing = true;
        pauses.forEach((pause) => clearTimeout(pause));
        member.isWorker = false;
        void beat();
        if (!isIdle()) await Promise.race([once(state, "idle"), once(state, "abandon")]);
        members.delete(member);
        // If the store cannot be used any more, the row of the member expires.
        if (!availability.isOver()) await storage.leave(member).catch(() => {});
      },
      freedAtMs: () => (isFinishing ? undefined : runner.freedAtMs()),
      abandon: () => void state.emit("abandon"),
    };
  }

  return {
    startWorker,
    onOpen: beat,
    stop: () => timers.forEach((timer) => clearInterval(timer)),
  };
}

/** Its identifier is a random integer below 2^48: the digits of a uuid before its second hyphen. */
function createMember(isWorker: boolean): Member {
  return { id: Number.parseInt(crypto.randomUUID().replace("-", ""), 16), isWorker };
}
