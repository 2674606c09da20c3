/** One schedule of stores, workers and faults, and what must hold after it. */
import type { Availability } from "../../../lib/durable/availability";
import { createBatches } from "../../../lib/durable/batches";
import type { EventRunner, RunFailure } from "../../../lib/durable/event-runner";
import { startHeartbeat } from "../../../lib/durable/heartbeat";
import type { QueueSettings } from "../../../lib/durable/queue-options";
import type { FailedRun, NewEvent, Run, Storage } from "../../../lib/durable/storage";
import { startWorker, type QueueWorker } from "../../../lib/durable/worker";
import { createModel, type ModelBugs, type ModelStorage } from "./model-storage";
import { createRandom, createScheduler, type SimulatedProcess } from "./scheduler";

const FAULTY_STEPS = 60;
const MAX_STEPS = 6_000;
const SETTINGS = { attempts: 3, backoff: { type: "fixed", delayMs: 200 } } as QueueSettings;
/** The state of a connection is not a part of the model: calls that fail stand for it. */
const AVAILABLE = {
  assertOpen() {},
  isOver: () => false,
  whenOpen: () => Promise.resolve(),
  watchWrite: <Value>(write: Promise<Value>) => write,
} as Availability;

/** What a schedule broke. */
export class BrokenInvariant extends Error {}

interface Started {
  process: SimulatedProcess;
  isSuccessful: boolean | undefined;
}

/** Runs the schedule of a seed; throws {@link BrokenInvariant}. */
export async function runSchedule(seed: number, bugs?: ModelBugs): Promise<void> {
  const random = createRandom(seed);
  const scheduler = createScheduler(random);
  let clockOffsetMs = 0;
  let areFaultsOn = true;
  const chance = (probability: number) => areFaultsOn && random() < probability;
  const problems: string[] = [];
  /** Runs that were started, by the event and its number. */
  const started = new Map<string, Started>();
  const acknowledged = new Set<string>();
  const settled = new Map<string, number>();
  const processes: (SimulatedProcess & { worker: QueueWorker })[] = [];
  let caller: SimulatedProcess | undefined;

  const model = createModel(
    () => Math.round(scheduler.nowMs() + clockOffsetMs),
    bugs,
    ({ id, body, owner, failures }, run, isDead) => {
      settled.set(body, (settled.get(body) ?? 0) + 1);
      const by = started.get(`${id} ${run.started}`);
      if (by?.process !== caller) problems.push(`another process settles run ${run.started}`);
      const other = processes.find((one) => memberOf.get(one) === owner);
      if (owner !== undefined && other !== caller) problems.push("a late worker settles");
      if (by?.isSuccessful === isDead) problems.push("a run is settled as the opposite");
      if (isDead && !permanent.has(body) && failures !== SETTINGS.attempts) {
        problems.push(`dead after ${failures} failures`);
      }
    },
  );
  const memberOf = new Map<SimulatedProcess, number>();
  const permanent = new Set<string>();

  /** Calls the store over a network that loses, delays and reorders. */
  function connect(process: SimulatedProcess): Storage {
    const call =
      (method: keyof ModelStorage) =>
      (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          const fail = () => scheduler.add(process, () => reject(new Error("no reply")));
          const execute = () => {
            caller = process;
            return (model.storage[method] as (...values: unknown[]) => unknown)(...args);
          };
          if (chance(0.06)) fail();
          else if (chance(0.05)) {
            // The caller gives up, and the store runs it later.
            scheduler.add(undefined, () => scheduler.add(undefined, execute));
            fail();
          } else {
            scheduler.add(undefined, () => {
              const value = execute();
              if (chance(0.06)) fail();
              else scheduler.add(process, () => resolve(value));
            });
          }
        });
    const methods = ["store", "claim", "finish", "fail", "beat", "leave", "purge"] as const;
    return Object.fromEntries(methods.map((name) => [name, call(name)])) as unknown as Storage;
  }

  function createRunner(process: SimulatedProcess): EventRunner {
    const handle = (stored: unknown, attempt: number) =>
      new Promise<RunFailure | undefined>((resolve) => {
        const uuid = String(stored);
        const event = [...model.events.values()].find(({ body }) => body === JSON.stringify(uuid));
        const key = `${event?.id ?? "gone"} ${attempt}`;
        if (event !== undefined && started.has(key)) problems.push(`run ${key} begins twice`);
        const run: Started = { process, isSuccessful: undefined };
        started.set(key, run);
        scheduler.add(process, () => {
          const draw = random();
          run.isSuccessful = draw < 0.6;
          if (draw > 0.95) permanent.add(JSON.stringify(uuid));
          const failure = { reason: "down", isPermanent: draw > 0.95 };
          resolve(run.isSuccessful ? undefined : failure);
        });
      });
    return { handle, reportDeadLetter() {} };
  }

  function startProcess(): void {
    const process = { isAlive: true, isSuspended: false } as (typeof processes)[number];
    scheduler.enter(process, () => {
      const storage = connect(process);
      const heartbeat = startHeartbeat(storage, AVAILABLE, () => process.worker.look());
      const parts = {
        storage,
        settings: SETTINGS,
        availability: AVAILABLE,
        heartbeat: {
          ...heartbeat,
          add(member: Parameters<typeof heartbeat.add>[0]) {
            memberOf.set(process, member.id);
            heartbeat.add(member);
          },
        },
        finishRun: createBatches(async (runs: readonly Run[]) => {
          await storage.finish(runs);
          return [] as void[];
        }),
        failRun: createBatches(async (runs: readonly FailedRun[]) => {
          const dead = await storage.fail(runs);
          return runs.map(({ id }) => dead.includes(id));
        }, 1),
      };
      process.worker = startWorker(parts, createRunner(process), 2);
      const store = createBatches((events: readonly NewEvent[]) => storage.store(events));
      const uuids = Array.from({ length: 2 }, () => `u${Math.floor(random() * 3)}`);
      for (const uuid of uuids) void storeUntilDone(store, uuid);
    });
    processes.push(process);
  }

  async function storeUntilDone(
    store: (event: NewEvent) => Promise<string>,
    uuid: string,
  ): Promise<void> {
    const content = `${uuid} ${random()}`;
    const body = JSON.stringify(uuid);
    for (;;) {
      try {
        await store({ key: uuid, content, uuidHash: uuid, body, outcome: undefined });
        acknowledged.add(body);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  function disturb(): void {
    const draw = random();
    const one = processes[Math.floor(random() * processes.length)]!;
    if (draw < 0.02) one.isAlive = false;
    else if (draw < 0.06) one.isSuspended = !one.isSuspended;
    else if (draw < 0.07) clockOffsetMs += (random() - 0.5) * 7_200_000;
    else if (draw < 0.09) scheduler.enter(one, () => setTimeout(() => {}, random() * 9_000));
    else if (draw < 0.1 && processes.length < 4) startProcess();
  }

  const isDone = () =>
    [...acknowledged].every((body) => settled.has(body)) &&
    [...model.events.values()].every(({ failedAtMs }) => failedAtMs !== undefined);

  const restore = scheduler.install();
  try {
    startProcess();
    startProcess();
    for (let step = 0; step < FAULTY_STEPS; step++) {
      disturb();
      await scheduler.step();
    }
    areFaultsOn = false;
    for (const one of processes) one.isSuspended = false;
    if (!processes.some(({ isAlive }) => isAlive)) startProcess();
    for (let step = 0; step < MAX_STEPS && !isDone() && problems.length === 0; step++) {
      await scheduler.step();
    }
    if (!isDone()) problems.push("an event is neither handled nor dead");
    for (const [body, count] of settled) {
      if (count > 1) problems.push(`${body} is settled ${count} times`);
    }
  } finally {
    restore();
  }
  if (problems.length > 0) throw new BrokenInvariant(`seed ${seed}: ${problems.join("; ")}`);
}
