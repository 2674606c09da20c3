/** One schedule of stores, workers, waits and faults, and its invariants. */
import { joinOutcomeKey } from "../../../lib/challenge/outcome-store";
import type { Handlers } from "../../../lib/delivery/handler-registry";
import type { Availability } from "../../../lib/durable/availability";
import { createBatches } from "../../../lib/durable/batches";
import type { EventRunner, RunFailure } from "../../../lib/durable/event-runner";
import { createSharedOutcomes } from "../../../lib/durable/outcomes";
import type { QueueSettings } from "../../../lib/durable/queue-options";
import type { ClaimedEvent, NewEvent, Run, Storage } from "../../../lib/durable/storage";
import { toAsciiJson } from "../../../lib/form/text";
import { hashKey } from "../../../lib/durable/stored-event";
import { createStoragePool, type QueueWorker } from "../../../lib/durable/worker";
import { eventFixture } from "../../../lib/testing/event-fixture";
import { createModel, type ModelBugs, type ModelStorage } from "./model-storage";
import { createRandom, createScheduler, type SimulatedProcess } from "./scheduler";

const FAULTY_STEPS = 60;
const MAX_STEPS = 6_000;
const EVENTS = 3;
const MAX_PROCESSES = 4;
const ATTEMPTS = 3;
const NAME = "q";
const settings = {
  name: NAME,
  attempts: ATTEMPTS,
  backoff: { type: "fixed", delayMs: 200 },
  maxWaiting: 100,
} as QueueSettings;
/** The state of a connection is not a part of the model: calls that fail stand for it. */
const availability = {
  assertOpen() {},
  isOver: () => false,
  whenOpen: () => Promise.resolve(),
  watchWrite: <Value>(write: Promise<Value>) => write,
} as Availability;
/** One for all: the stack of a new one would cost a tenth of the time. */
const NO_REPLY = new Error("no reply");
const PARTS = { settings, availability, recordOutcome: async () => {} };
const METHODS = ["store", "outcomes", "claim", "finish", "fail", "beat", "leave", "purge"] as const;
const BODIES = Array.from({ length: EVENTS }, (_, index) => JSON.stringify(`u${index}`));
const KEYS = BODIES.map((body) => hashKey(NAME, body));
const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;
const OUTCOMES = BODIES.map((_, index) => {
  const challengeSid = sidOf(index);
  const { params } = eventFixture("challenge.approved", { challenge_sid: challengeSid });
  const key = hashKey(NAME, joinOutcomeKey({ account: "", challengeSid }));
  return { key, params: toAsciiJson(params) };
});

/** An invariant that a schedule broke. */
export class BrokenInvariant extends Error {}

/** A storage that runs beside the model, and must do the same. */
export interface ComparedStorage {
  /** Runs a call at a time of the clock; resolves with how it differs from the model. */
  compare(
    method: keyof ModelStorage,
    args: readonly unknown[],
    reply: unknown,
    model: ReturnType<typeof createModel>,
    nowMs: number,
  ): Promise<string | undefined>;
}

/** How a schedule runs. */
export interface ScheduleOptions {
  bugs?: ModelBugs;
  compared?: ComparedStorage | undefined;
  /** Called with each call of the storage, and each disturbance. */
  trace?: ((line: string) => void) | undefined;
}

interface Worker extends SimulatedProcess {
  number: number;
  worker: QueueWorker;
  isFinishing: boolean;
  /** The runs that its claims returned, by the body of the event. */
  claimed: Map<string, ClaimedEvent>;
  notice: (keys: readonly string[]) => void;
  /** The challenges that it waits for, by the key of the outcome. */
  awaited: Set<string>;
}

/** A run whose handlers began. */
interface BegunRun {
  by: Worker;
  isSuccessful?: boolean;
  isPermanent?: boolean;
  isSettled?: boolean;
}

function afterMicrotasks(resolve: () => void): void {
  process.nextTick(resolve);
}

/** Runs the schedule of a seed; throws {@link BrokenInvariant}. */
export async function runSchedule(
  seed: number,
  { bugs = {}, compared, trace }: ScheduleOptions = {},
): Promise<void> {
  const random = createRandom(seed);
  const scheduler = createScheduler(random);
  const hasWaits = random() < 0.25;
  const problems: string[] = [];
  const processes: Worker[] = [];
  /** Runs whose handlers began, by the event and its number. */
  const begun = new Map<string, BegunRun>();
  const acknowledged = new Set<string>();
  /** By the body of the event: how often it was settled and retried, and the runs that failed. */
  const settled = new Map<string, number>();
  const retried = new Map<string, number>();
  const failures = new Map<string, Set<number>>();
  let clockOffsetMs = 0;
  let areFaultsOn = true;
  let isAway = false;
  let count = 0;
  let caller: Worker | undefined;
  let comparison: Promise<string | undefined> | undefined;
  const nowMs = () => Math.round(scheduler.nowMs() + clockOffsetMs);
  const keyOf = ({ id, started }: Run) => `${id} ${started}`;
  const add = (counts: Map<string, number>, body: string) => {
    counts.set(body, (counts.get(body) ?? 0) + 1);
  };

  const model = createModel(nowMs, bugs, {
    onSettled({ id, body, started, owner, stalls }, run, isDead) {
      add(settled, body);
      const by = begun.get(keyOf({ id, started: run.started }));
      if (by?.isSettled === true) problems.push(`run ${keyOf(run)} is settled twice`);
      if (by !== undefined) by.isSettled = true;
      if (by?.by !== caller) problems.push(`run ${keyOf(run)} is settled by another process`);
      if (started !== run.started) problems.push(`run ${keyOf(run)} is settled by a late worker`);
      if (by?.isSuccessful === isDead) problems.push(`run ${keyOf(run)} is settled as another`);
      if (owner !== undefined && !isOwner(caller, owner)) problems.push("another owner settles");
      const made = (failures.get(body)?.size ?? 0) + 1;
      if (isDead && by?.isPermanent !== true && made !== ATTEMPTS) {
        problems.push(`event ${id} is dead after ${made} failures and ${stalls} stalls`);
      }
    },
    onFailed({ body, started }) {
      const runs = failures.get(body) ?? new Set();
      // A report may be repeated.
      failures.set(body, runs.add(started));
    },
  });
  const owners = new Map<number, Worker>();
  const isOwner = (one: Worker | undefined, owner: number) => owners.get(owner) === one;

  function execute(process: Worker | undefined, method: keyof ModelStorage, args: unknown[]) {
    caller = process;
    const reply: unknown = (model.storage[method] as (...values: unknown[]) => unknown)(...args);
    trace?.(
      `${nowMs()} ${process?.number} ${method}(${JSON.stringify(args)}): ${JSON.stringify(reply)}`,
    );
    comparison = compared?.compare(method, args, reply, model, nowMs());
    if (method === "store") hint(process, args[0] as NewEvent[]);
    return reply;
  }

  /** Half of the hints are lost. */
  function hint(from: Worker | undefined, events: readonly NewEvent[]): void {
    for (const one of processes) {
      if (one === from || random() < 0.5) continue;
      scheduler.add(one, () => {
        one.worker.look();
        one.notice(events.flatMap(({ outcome }) => outcome?.key ?? []));
      });
    }
  }

  /** Calls the store over a network that loses, delays and reorders. */
  function call(process: Worker, method: (typeof METHODS)[number], args: unknown[]) {
    return new Promise<unknown>((resolve, reject) => {
      const draw = areFaultsOn ? random() : 1;
      const fail = () => scheduler.add(process, () => reject(NO_REPLY));
      if (isAway || draw < 0.06) fail();
      else if (draw < 0.11) {
        // The caller gives up, and the store runs it later.
        scheduler.add(undefined, () =>
          scheduler.add(undefined, () => void execute(process, method, args)),
        );
        fail();
      } else {
        scheduler.add(undefined, () => {
          const reply = execute(process, method, args);
          if (draw < 0.17) fail();
          else {
            scheduler.add(process, () => {
              if (method === "claim") noteClaims(process, reply as ClaimedEvent[]);
              resolve(reply);
            });
          }
        });
      }
    });
  }

  function noteClaims(process: Worker, claimed: readonly ClaimedEvent[]): void {
    for (const event of claimed) process.claimed.set(event.body, event);
  }

  function connect(process: Worker): Storage {
    const storage: Record<string, unknown> = { title: "The store" };
    for (const method of METHODS) {
      storage[method] = (...args: unknown[]) => {
        if (method === "claim") owners.set(args[0] as number, process);
        return call(process, method, args);
      };
    }
    return storage as unknown as Storage;
  }

  function createRunner(process: Worker): EventRunner {
    const handle = (stored: unknown, attempt: number) =>
      new Promise<RunFailure | undefined>((resolve) => {
        const run = process.claimed.get(JSON.stringify(stored));
        if (run === undefined) throw new Error("the handlers of no claimed event run");
        if (begun.has(keyOf(run))) problems.push(`run ${keyOf(run)} begins twice`);
        if (attempt !== run.attempt) problems.push("the attempt is wrong");
        const one: BegunRun = { by: process };
        begun.set(keyOf(run), one);
        scheduler.add(process, () => {
          const draw = random();
          one.isSuccessful = draw < 0.6;
          one.isPermanent = draw > 0.95;
          const failure = { reason: "down", isPermanent: one.isPermanent, isForged: false };
          resolve(one.isSuccessful ? undefined : failure);
        });
      });
    return { concurrency: 2, handle, reportDeadLetter() {}, freeSinceMs: () => undefined };
  }

  function startProcess(): void {
    const one = {
      number: processes.length,
      isAlive: true,
      isSuspended: false,
      isFinishing: false,
      claimed: new Map(),
      awaited: new Set(),
      notice() {},
    } as unknown as Worker;
    processes.push(one);
    scheduler.enter(one, () => {
      const storage = connect(one);
      const createOwnRunner = () => createRunner(one);
      const parts = { ...PARTS, lookForEvents: () => one.worker.look() };
      const pool = createStoragePool(storage, parts, createOwnRunner);
      one.worker = pool.start({} as Handlers, { concurrency: 2 });
      const store = createBatches((events: readonly NewEvent[]) => storage.store(events));
      for (let stored = 0; stored < 2; stored++) {
        void storeUntilDone(store, Math.floor(random() * EVENTS));
      }
      if (hasWaits) wait(one, storage);
    });
  }

  async function storeUntilDone(
    store: (event: NewEvent) => Promise<string>,
    index: number,
  ): Promise<void> {
    const key = KEYS[index]!;
    const body = BODIES[index]!;
    const content = (++count).toString(16).padStart(32, "0");
    const outcome = hasWaits ? OUTCOMES[index] : undefined;
    for (;;) {
      try {
        await store({ key, content, uuidHash: key, body, outcome });
        acknowledged.add(body);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  function wait(one: Worker, storage: Storage): void {
    const outcomes = createSharedOutcomes(storage, settings);
    one.notice = outcomes.notice;
    const index = Math.floor(random() * EVENTS);
    const { key } = OUTCOMES[index]!;
    one.awaited.add(key);
    const awaited = { account: "", challengeSid: sidOf(index), timeoutMs: 2 ** 30 };
    void outcomes.wait(awaited).then(() => one.awaited.delete(key));
  }

  function disturb(): void {
    const draw = random();
    if (draw >= 0.12) return;
    const one = processes[Math.floor(random() * processes.length)]!;
    trace?.(`disturbed: ${draw} ${one.number}`);
    if (draw < 0.02) one.isAlive = false;
    else if (draw < 0.06) one.isSuspended = !one.isSuspended;
    else if (draw < 0.07) clockOffsetMs += (random() - 0.5) * 7_200_000;
    else if (draw < 0.085) scheduler.enter(one, () => setTimeout(() => {}, random() * 9_000));
    else if (draw < 0.095) isAway = !isAway;
    else if (draw < 0.105) retryDead();
    else if (draw < 0.11) finish(one);
    else if (processes.length < MAX_PROCESSES) startProcess();
  }

  function finish(one: Worker): void {
    if (!one.isAlive || one.isFinishing) return;
    one.isFinishing = true;
    scheduler.enter(one, () => void one.worker.finish());
  }

  function retryDead(): void {
    for (const { id, body, failedAtMs } of model.events.values()) {
      if (failedAtMs === undefined) continue;
      add(retried, body);
      failures.delete(body);
      execute(undefined, "retry", [[String(id)]]);
      return;
    }
  }

  function isDone(): boolean {
    for (const { failedAtMs } of model.events.values()) if (failedAtMs === undefined) return false;
    for (const body of acknowledged) {
      if (settled.get(body) !== 1 + (retried.get(body) ?? 0)) return false;
    }
    for (const { isAlive, awaited } of processes) {
      if (!isAlive) continue;
      for (const key of awaited) {
        const index = OUTCOMES.findIndex((outcome) => outcome.key === key);
        if (acknowledged.has(BODIES[index] ?? "")) return false;
      }
    }
    return true;
  }

  /** Runs a step; the promise resolves after all that follows from it. */
  function step(): Promise<void> {
    scheduler.step();
    return comparison === undefined ? new Promise<void>(afterMicrotasks) : compareReal();
  }

  let restore = scheduler.install();

  /** A real store needs real timers. */
  async function compareReal(): Promise<void> {
    restore();
    const difference = await comparison;
    comparison = undefined;
    restore = scheduler.install();
    if (difference !== undefined) problems.push(difference);
    await new Promise<void>(afterMicrotasks);
  }

  try {
    startProcess();
    startProcess();
    for (let steps = 0; steps < FAULTY_STEPS && problems.length === 0; steps++) {
      disturb();
      await step();
    }
    areFaultsOn = false;
    isAway = false;
    for (const one of processes) one.isSuspended = false;
    if (!processes.some(({ isAlive, isFinishing }) => isAlive && !isFinishing)) startProcess();
    for (let steps = 0; steps < MAX_STEPS && !isDone() && problems.length === 0; steps++) {
      await step();
    }
    if (problems.length === 0 && !isDone()) {
      problems.push("an event is neither handled nor dead, or a wait does not end");
    }
  } finally {
    restore();
  }
  if (problems.length > 0) throw new BrokenInvariant(`seed ${seed}: ${problems.join("; ")}`);
}
