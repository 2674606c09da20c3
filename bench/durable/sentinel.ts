/**
 * 100 events a second are stored through sentinels while the primary is cut off from its replicas and
 * the sentinels, but not from the queue, and while it is killed; another process waits for their
 * outcomes: lost and failed events, lost waits, how long the sentinels took, longest gap.
 *
 * npx tsx bench/durable/sentinel.ts [runs]
 */
import { Redis } from "ioredis";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { load, removeGroups, startSentinels, type SentinelGroup } from "./groups";
import { QUEUE_NAME, queuedEvent } from "./processes";

const GROUP = "main";
const LOAD_MS = 10_000;
const [, , runs = "1"] = process.argv;

async function measure(what: string, disturb: (group: SentinelGroup) => unknown): Promise<void> {
  const group = await startSentinels(GROUP);
  const { sentinels, natMap } = group;
  const open = () =>
    redisQueue({
      name: QUEUE_NAME,
      connection: { sentinels, name: GROUP, natMap },
      logger: { debug() {}, info() {}, warn() {}, error: console.error },
    });
  const [queue, other] = [open(), open()];
  await Promise.all([queue.ready(), other.ready()]);
  let waits = 0;
  let lostWaits = 0;
  const store = async (uuid: string) => {
    const challengeSid = `YC${uuid.replaceAll("-", "")}`;
    const event = eventFixture("challenge.approved", { uuid, challenge_sid: challengeSid });
    waits++;
    other.outcomes.wait({ account: "", challengeSid, timeoutMs: 10_000 }).catch(() => lostWaits++);
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
  };
  const watcher = new Redis(sentinels[0]?.port ?? 0);
  let disturbedAtMs = Number.POSITIVE_INFINITY;
  let switchMs = 0;
  watcher.on("message", () => (switchMs = Math.round(performance.now() - disturbedAtMs)));
  await watcher.subscribe("+switch-master");
  const { stored, failed, gapMs } = await load(LOAD_MS, store, () => {
    disturbedAtMs = performance.now();
    disturb(group);
  });
  watcher.disconnect();
  const { waiting } = await other.stats();
  await Promise.all([queue, other].map((one) => one.close({ deadlineMs: 1_000 })));
  // The primary that the sentinels name now.
  const redis = new Redis({ sentinels, name: GROUP });
  const count = await redis.llen(`push:${QUEUE_NAME}:wait`);
  redis.disconnect();
  await removeGroups();
  console.log(
    `${what}: ${stored.length} stored, ${Math.max(0, stored.length - Math.min(count, waiting))} lost, ${failed} failed, new primary after ${switchMs} ms, gap ${gapMs} ms, ${lostWaits} of ${waits} waits lost`,
  );
}

async function main(): Promise<void> {
  for (let run = 0; run < Number(runs); run++) {
    await measure("primary cut off", (group) => group.cut());
    await measure("primary killed", (group) => {
      group.primary.child.kill("SIGKILL");
      group.cut();
    });
  }
  process.exit();
}

void main();
