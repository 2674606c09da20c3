/**
 * What the outcome of a challenge costs on each engine: the same event is stored with its outcome, and
 * without, as it is where a worker confirms it first; in turns in one run, in CPU time of the app and of
 * the server, which other programs disturb less than they disturb a rate, and in stores a second.
 *
 * npm run node24 -- --import tsx bench/durable/outcomes.ts [rounds] [events] [engine]
 *
 * LANES: how many events are stored at a time.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { openQueue, startStore, type BenchStore } from "./engine";
import { percentile, queuedEvent } from "./processes";

const [, , rounds = "7", events = "5000", only] = process.argv;
const LANES = Number(process.env.LANES ?? 64);
/** The kernel counts the CPU time of a process in hundredths of a second. */
const TICK_US = 10_000;

/** The CPU time of a store, in microseconds of the app and of the server, and how many a second. */
type Cost = [app: number, server: number, perSecond: number];

function store(queue: DurableQueue, hasOutcome: boolean): Promise<unknown> {
  const uuid = crypto.randomUUID();
  const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
  const event = queuedEvent(eventFixture("challenge.approved", { uuid, challenge_sid }));
  const stored = hasOutcome ? event : { ...event, needsConfirmation: true };
  return queue.store(stored, Number.POSITIVE_INFINITY);
}

/** Returns the CPU time of a server and of the processes that it has started. */
function readServerUs({ server }: BenchStore): number {
  if (server === undefined) return 0;
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(pid);
    const isOfServer = pid === String(server.child.pid) || fields[1] === String(server.child.pid);
    if (isOfServer) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_US;
}

/** Returns the fields of a process behind its name, which may contain blanks; none if it has ended. */
function readStat(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return [];
  }
}

async function measure(queue: DurableQueue, bench: BenchStore, hasOutcome: boolean): Promise<Cost> {
  let left = Number(events);
  const lane = async () => {
    while (left-- > 0) await store(queue, hasOutcome);
  };
  const [app, server] = [process.cpuUsage(), readServerUs(bench)];
  const startMs = performance.now();
  await Promise.all(Array.from({ length: LANES }, lane));
  const { user, system } = process.cpuUsage(app);
  const serverUs = readServerUs(bench) - server;
  const seconds = (performance.now() - startMs) / 1_000;
  const count = Number(events);
  return [(user + system) / count, serverUs / count, count / seconds];
}

function medianOf(measured: readonly Cost[]): Cost {
  const median = (part: 0 | 1 | 2) =>
    Number(
      percentile(
        measured.map((cost) => cost[part]),
        0.5,
      ),
    );
  return [median(0), median(1), median(2)];
}

const describe = ([app, server, perSecond]: Cost) =>
  `${app.toFixed(0)} µs of the app, ${server.toFixed(0)} of the server, ${perSecond.toFixed(0)}/s`;

async function main(): Promise<void> {
  for (const engine of only === undefined ? ["redis", "sqlite", "postgres"] : [only]) {
    const bench = await startStore(engine);
    const queue = openQueue(bench.env);
    await queue.ready();
    await measure(queue, bench, true);
    const costs = new Map<boolean, Cost[]>([
      [false, []],
      [true, []],
    ]);
    for (let round = 0; round < Number(rounds); round++) {
      for (const [hasOutcome, measured] of costs) {
        measured.push(await measure(queue, bench, hasOutcome));
      }
    }
    const none: Cost = [0, 0, 0];
    const [without = none, withOutcome = none] = [...costs.values()].map(medianOf);
    const ratio = (withOutcome[0] + withOutcome[1]) / (without[0] + without[1]);
    console.log(
      `${engine}: ${describe(without)}; with the outcome ${describe(withOutcome)}: ${ratio.toFixed(2)}`,
    );
    await queue.close();
    await bench.remove();
  }
}

void main();
