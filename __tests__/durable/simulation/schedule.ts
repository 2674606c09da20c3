/** One schedule of stores, workers, waits and faults, and its invariants. */
import { createHandlers } from "../../../lib/core/delivery/handler-registry";
import {
  createQueue,
  type DurableQueue,
  type Engine,
  type EventWorker,
} from "../../../lib/durable/queue";
import { resolveQueueOptions } from "../../../lib/durable/queue-options";
import type { Runner, RunFailure } from "../../../lib/durable/runner";
import type { ClaimedEvent, Hint, NewEvent, Run } from "../../../lib/durable/storage";
import { toAsciiJson } from "../../../lib/kit/text";
import { toNewEvent } from "../../../lib/durable/stored-event";
import { eventFixture } from "../../../lib/testing/event-fixture";
import { createRandom } from "../../support/attacker-texts";
import { createModel, type ModelStorage } from "./model-storage";
import { createScheduler, type SimulatedProcess } from "./scheduler";

const FAULTY_STEPS = 60;
const MAX_STEPS = 6_000;
const EVENTS = 3;
const MAX_PROCESSES = 4;
const ATTEMPTS = 3;
const NAME = "q";
const silent = () => {};
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const options = { name: NAME, attempts: ATTEMPTS, backoff: 2_000, logger };
const settings = resolveQueueOptions("simulation", options, {});
/** One for all: the stack of a new one would cost a tenth of the time. */
const NO_REPLY = new Error("no reply");
const HANDLERS = createHandlers().onAny(() => {});
const METHODS = ["store", "outcomes", "claim", "finish", "fail", "beat", "leave", "purge"] as const;
const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;
const QUEUED = Array.from({ length: EVENTS }, (_, index) => {
  const uuid = `u${index}`;
  const event = eventFixture("challenge.approved", { uuid, challenge_sid: sidOf(index) });
  const claims = { accountSid: event.account_sid, uuid, receiver: undefined };
  const indexes = { authTokenIndex: 0, publicUrlIndex: 0 };
  return { event, authenticatedAccount: "", contentHash: "h", ...claims, ...indexes };
});
const BODIES = QUEUED.map((queued) => toNewEvent(NAME, queued, undefined).body);

interface Worker extends SimulatedProcess {
  number: number;
  queue: DurableQueue;
  worker: EventWorker;
  isFinishing: boolean;
  /** The runs that its claims returned, by the body of the event. */
  claimed: Map<string, ClaimedEvent>;
  onHint: (hint: Hint) => void;
  /** Ends its connection. */
  disconnect: (error: Error) => void;
  /** The numbers of the challenges that it waits for. */
  awaited: Set<number>;
}

/** A run whose handlers began. */
interface BegunRun {
  by: Worker;
  isSuccessful?: boolean;
  isPermanent?: boolean;
}

/** Lets all promises settle. */
const settle = () => new Promise<void>((resolve) => process.nextTick(resolve));

/**
 * Runs the schedule of a seed; throws the invariants that it broke.
 *
 * @param trace called with each call of the storage, and each disturbance.
 */
export async function runSchedule(seed: number, trace?: (line: string) => void): Promise<void> {
  const random = createRandom(seed);
  const scheduler = createScheduler(random);
  const hasWaits = random() < 0.25;
  const problems: string[] = [];
  const processes: Worker[] = [];
  /** Runs whose handlers began, by the event and its number. */
  const begun = new Map<string, BegunRun>();
  const acknowledged = new Set<string>();
  /** By the body of the event: how often it was settled since retries, and the runs that failed. */
  const settled = new Map<string, number>();
  const failures = new Map<string, Set<number>>();
  let clockOffsetMs = 0;
  let areFaultsOn = true;
  let isAway = false;
  let caller: Worker | undefined;
  const nowMs = () => Math.round(scheduler.nowMs() + clockOffsetMs);
  const keyOf = ({ id, started }: Run) => `${id} ${started}`;
  const count = (body: string, by: number) => settled.set(body, (settled.get(body) ?? 0) + by);

  const model = createModel(nowMs, {
    onSettled({ id, body, stalls }, run, isDead) {
      count(body, 1);
      const by = begun.get(keyOf(run));
      if (by?.by !== caller) problems.push(`run ${keyOf(run)} is settled by another process`);
      if (by?.isSuccessful === isDead) problems.push(`run ${keyOf(run)} is settled as another`);
      const made = (failures.get(body)?.size ?? 0) + 1;
      if (isDead && by?.isPermanent !== true && made !== ATTEMPTS) {
        problems.push(`event ${id} is dead after ${made} failures and ${stalls} stalls`);
      }
    },
    onFailed({ body, started }, run) {
      const runs = (failures.get(body) ?? new Set()).add(started);
      failures.set(body, runs);
      if (run.failures === runs.size && runs.size < ATTEMPTS) return;
      problems.push(`run ${keyOf(run)} is failure ${runs.size}, and counts as ${run.failures}`);
    },
  });

  function execute(process: Worker | undefined, method: keyof ModelStorage, args: unknown[]) {
    caller = process;
    const reply: unknown = (model.storage[method] as (...values: unknown[]) => unknown)(...args);
    trace?.(
      `${nowMs()} ${process?.number} ${method}(${JSON.stringify(args)}): ${JSON.stringify(reply)}`,
    );
    if (method === "store") hint(process, args[0] as NewEvent[]);
    return reply;
  }

  /** Half of the hints are lost. */
  function hint(from: Worker | undefined, events: readonly NewEvent[]): void {
    for (const one of processes) {
      if (one === from || random() < 0.5) continue;
      const outcomes = events.flatMap(({ outcome }) => outcome?.key ?? []);
      scheduler.add(one, () => one.onHint({ hasEvents: true, outcomes }));
    }
  }

  /** Resolves in a later step of a process, or of the store and the network. */
  const stepOf = (process: Worker | undefined) =>
    new Promise<void>((resolve) => scheduler.add(process, resolve));

  /** Calls the store over a network that loses, delays and reorders. */
  async function call(process: Worker, method: (typeof METHODS)[number], args: unknown[]) {
    const draw = areFaultsOn ? random() : 1;
    const isReceived = !isAway && draw >= 0.06;
    const isLost = !isReceived || draw < 0.17;
    const run = () => stepOf(undefined).then(() => execute(process, method, args));
    let reply: unknown;
    if (isReceived && draw >= 0.11) reply = await run();
    // The caller gives up, and the store runs it later.
    else if (isReceived) void stepOf(undefined).then(run);
    await stepOf(process);
    if (isLost) throw NO_REPLY;
    const claimed = method === "claim" ? (reply as ClaimedEvent[]) : [];
    for (const event of claimed) process.claimed.set(event.body, event);
    return reply;
  }

  function connect(process: Worker): Engine {
    const methods = METHODS.map((method) => [
      method,
      (...args: unknown[]) => call(process, method, args),
    ]);
    return {
      title: "The store",
      async connect(onHint: Worker["onHint"]) {
        await stepOf(process);
        if (isAway) throw NO_REPLY;
        process.onHint = onHint;
        return { ended: new Promise<Error>((end) => (process.disconnect = end)) };
      },
      ...(Object.fromEntries(methods) as object),
    } as Engine;
  }

  function createRunner(process: Worker): Runner {
    async function handle(stored: unknown, attempt: number): Promise<RunFailure | undefined> {
      const run = process.claimed.get(toAsciiJson(stored));
      if (run === undefined) throw new Error("the handlers of no claimed event run");
      if (begun.has(keyOf(run))) problems.push(`run ${keyOf(run)} begins twice`);
      if (attempt !== run.attempt) problems.push("the attempt is wrong");
      const one: BegunRun = { by: process };
      begun.set(keyOf(run), one);
      await stepOf(process);
      const draw = random();
      one.isSuccessful = draw < 0.6;
      one.isPermanent = draw > 0.95;
      if (one.isSuccessful) return undefined;
      const reason = { reason: "down", masked: "down" };
      return { ...reason, isPermanent: one.isPermanent, isForged: false };
    }
    return { concurrency: 2, handle, reportFailure() {}, freedAtMs: () => undefined };
  }

  function startProcess(): void {
    const one = {
      number: processes.length,
      isAlive: true,
      isSuspended: false,
      isFinishing: false,
      claimed: new Map(),
      awaited: new Set(),
      onHint() {},
      disconnect() {},
    } as unknown as Worker;
    processes.push(one);
    scheduler.enter(one, () => {
      one.queue = createQueue(connect(one), settings, () => createRunner(one));
      one.worker = one.queue.work(HANDLERS, { concurrency: 2 });
      for (let stored = 0; stored < 2; stored++) {
        void storeUntilDone(one.queue, Math.floor(random() * EVENTS));
      }
      if (hasWaits) wait(one);
    });
  }

  async function storeUntilDone(queue: DurableQueue, index: number): Promise<void> {
    while (!over.signal.aborted) {
      try {
        await queue.store(QUEUED[index]!, Number.POSITIVE_INFINITY);
        acknowledged.add(BODIES[index]!);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  function wait(one: Worker): void {
    const index = Math.floor(random() * EVENTS);
    one.awaited.add(index);
    const awaited = { authenticatedAccount: "", challengeSid: sidOf(index), timeoutMs: 2 ** 30 };
    void one.queue.outcomes.wait(awaited).then(() => one.awaited.delete(index));
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
    else if (draw < 0.095) setAway(!isAway);
    else if (draw < 0.105) retryDead();
    else if (draw < 0.11) finish(one);
    else if (processes.length < MAX_PROCESSES) startProcess();
  }

  /** While the store is away, half of the connections end. */
  function setAway(isAwayNow: boolean): void {
    isAway = isAwayNow;
    for (const one of isAway ? processes : []) {
      if (random() < 0.5) scheduler.add(one, () => one.disconnect(NO_REPLY));
    }
  }

  function finish(one: Worker): void {
    if (!one.isAlive || one.isFinishing) return;
    one.isFinishing = true;
    scheduler.enter(one, () => void one.worker.close());
  }

  function retryDead(): boolean {
    const dead = [...model.events.values()].find(({ failedAtMs }) => failedAtMs !== undefined);
    if (dead === undefined) return false;
    count(dead.body, -1);
    failures.delete(dead.body);
    execute(undefined, "retry", [[String(dead.id)]]);
    return true;
  }

  function isDone(): boolean {
    if ([...model.events.values()].some(({ failedAtMs }) => failedAtMs === undefined)) return false;
    if ([...acknowledged].some((body) => settled.get(body) !== 1)) return false;
    const awaited = processes.flatMap((one) => (one.isAlive ? [...one.awaited] : []));
    return !awaited.some((index) => acknowledged.has(BODIES[index]!));
  }

  const over = new AbortController();
  const restore = scheduler.install();

  function step(): Promise<void> {
    scheduler.step();
    return settle();
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
    // At the end, a dead letter is retried.
    let retries = 0;
    for (let steps = 0; steps < MAX_STEPS && problems.length === 0; steps++) {
      if (isDone() && (retries++ > 0 || !retryDead())) break;
      await step();
    }
    if (problems.length === 0 && !isDone()) {
      problems.push("an event is neither handled nor dead, or a wait does not end");
    }
  } finally {
    over.abort();
    // A process that was just started would go on with real timers, and keep this one from its end.
    await settle();
    restore();
  }
  if (problems.length > 0) throw new Error(`seed ${seed}: ${problems.join("; ")}`);
}
