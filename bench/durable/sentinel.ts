/**
 * Failovers of Sentinel: events are stored while the primary is killed, frozen for 4 s, or cut off
 * from its replicas and the sentinels, but not from the queue. Another process handles the events
 * after the failover, and waits for their outcomes: events that were acknowledged and not handled,
 * events that were not stored, lost waits, when the sentinels named the new primary, longest gap.
 *
 * npx tsx bench/durable/sentinel.ts [runs]
 *
 * REPLICAS: the option of the queue. BUSY: how many processes keep the processors busy. LANES: how
 * many events are stored at a time; without it, 100 a second. ONLY: a part of the names of the
 * disturbances.
 */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { load, removeGroups, startSentinels, type GroupServer, type SentinelGroup } from "./groups";
import { QUEUE_NAME, queuedEvent } from "./processes";

const GROUP = "main";
const [, , runs = "3"] = process.argv;
const { REPLICAS, BUSY = "0", LANES, ONLY = "" } = process.env;
const FROZEN_MS = 4_000;

const freeze = ({ child }: GroupServer, durationMs: number) => {
  child.kill("SIGSTOP");
  setTimeout(() => child.kill("SIGCONT"), durationMs);
};

const DISTURBANCES: Record<string, (group: SentinelGroup) => unknown> = {
  killed({ primary, cut }) {
    primary.child.kill("SIGKILL");
    cut();
  },
  frozen: ({ primary }) => freeze(primary, FROZEN_MS),
  "cut off": ({ cut }) => cut(),
  /** One replica hangs before, the other one while the sentinels elect a primary. */
  async "killed, replicas hang in turns"({ primary, replicas: [first, second], cut }) {
    if (first !== undefined) freeze(first, 200);
    await sleep(200);
    primary.child.kill("SIGKILL");
    cut();
    if (second !== undefined) freeze(second, 1_500);
  },
};

interface Result {
  lost: number;
  failed: number;
}

async function measure(name: string, group: SentinelGroup): Promise<Result> {
  const { sentinels, natMap } = group;
  const open = () =>
    redisQueue({
      name: QUEUE_NAME,
      connection: { sentinels, name: GROUP, natMap },
      ...(REPLICAS !== undefined && { replicas: Number(REPLICAS) }),
      logger: { debug() {}, info() {}, warn() {}, error: console.error },
    });
  const [queue, other] = [open(), open()];
  await Promise.all([queue.ready(), other.ready()]);
  let waits = 0;
  let lostWaits = 0;
  const waiting: Promise<unknown>[] = [];
  const store = async (uuid: string) => {
    const challengeSid = `YC${uuid.replaceAll("-", "")}`;
    const event = eventFixture("challenge.approved", { uuid, challenge_sid: challengeSid });
    waits++;
    waiting.push(
      other.outcomes
        .wait({ authenticatedAccount: "", challengeSid, timeoutMs: 15_000 })
        .catch(() => void lostWaits++),
    );
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
  };
  const watcher = new Redis(sentinels[0]?.port ?? 0);
  let disturbedAtMs = Number.POSITIVE_INFINITY;
  let switchMs = 0;
  watcher.on("message", () => (switchMs = Math.round(performance.now() - disturbedAtMs)));
  await watcher.subscribe("+switch-master");
  const options = { beforeMs: 2_000, afterMs: 5_000, lanes: Number(LANES ?? 0) };
  const { stored, failed, gapMs } = await load(options, store, async () => {
    disturbedAtMs = performance.now();
    await DISTURBANCES[name]?.(group);
  });
  watcher.disconnect();
  const handled = new Set<string>();
  const worker = other.work(createHandlers().onAny(({ uuid }) => void handled.add(uuid)));
  const listLost = () => stored.filter((uuid) => !handled.has(uuid));
  for (const endMs = performance.now() + 20_000; performance.now() < endMs; await sleep(50)) {
    const { waiting: left, active, delayed } = await other.stats();
    if (listLost().length === 0 || left + active + delayed === 0) break;
  }
  await worker.close();
  const lost = listLost().length;
  await Promise.all([queue, other].map((one) => one.close({ deadlineMs: 1_000 })));
  await Promise.all(waiting);
  console.log(
    `${name}: ${stored.length} stored, ${lost} lost, ${failed} failed, new primary after ${switchMs} ms, gap ${gapMs} ms, ${lostWaits} of ${waits} waits lost`,
  );
  return { lost, failed };
}

async function main(): Promise<void> {
  const busy = Array.from({ length: Number(BUSY) }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  const names = Object.keys(DISTURBANCES).filter((name) => name.includes(ONLY));
  const results: Result[] = [];
  for (let run = 0; run < Number(runs); run++) {
    const group = await startSentinels(GROUP);
    results.push(await measure(names[run % names.length] ?? "", group));
    await removeGroups();
  }
  for (const child of busy) child.kill("SIGKILL");
  const count = (of: keyof Result) => results.filter((result) => result[of] > 0).length;
  console.log(
    `${runs} runs: ${count("lost")} with lost events, ${count("failed")} with failed ones`,
  );
  process.exit();
}

process.once("SIGTERM", () => process.exit());
void main();
