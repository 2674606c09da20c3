/**
 * 100 events a second are stored through sentinels while the primary is cut off from its replicas and
 * the sentinels, but not from the queue, and while it is killed: lost and failed events, longest gap.
 *
 * npx tsx bench/durable/sentinel.ts
 */
import { Redis } from "ioredis";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { load, removeGroups, startSentinels, type SentinelGroup } from "./groups";
import { QUEUE_NAME, queuedEvent } from "./processes";

const GROUP = "main";

async function measure(what: string, disturb: (group: SentinelGroup) => unknown): Promise<void> {
  const group = await startSentinels(GROUP);
  const { sentinels, natMap } = group;
  const queue = redisQueue({
    name: QUEUE_NAME,
    connection: { sentinels, name: GROUP, natMap },
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  });
  await queue.ready();
  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);
  const { stored, failed, gapMs } = await load(15_000, store, () => disturb(group));
  await queue.close({ deadlineMs: 1_000 });
  // The primary that the sentinels name now.
  const redis = new Redis({ sentinels, name: GROUP });
  const keys = stored.map((uuid) => `push:${QUEUE_NAME}:de::${uuid}`);
  const lost = keys.length - (await redis.exists(...keys));
  redis.disconnect();
  await removeGroups();
  console.log(`${what}: ${stored.length} stored, ${lost} lost, ${failed} failed, gap ${gapMs} ms`);
}

async function main(): Promise<void> {
  await measure("primary cut off", (group) => group.cut());
  await measure("primary killed", (group) => {
    group.primary.child.kill("SIGKILL");
    group.cut();
  });
  process.exit();
}

void main();
