/**
 * 100 events a second are stored in a cluster, with 300 waits for a challenge, while the node of the
 * queue is killed, frozen, or cut off from its replicas and then killed: lost and failed events,
 * longest gap, lost waits.
 *
 * npx tsx bench/durable/cluster.ts
 *
 * ONLY: a part of the names of the disturbances that are measured.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { Redis } from "ioredis";
import {
  ANNOUNCED_HOST,
  cutOff,
  load,
  removeGroups,
  startCluster,
  type ClusterSettings,
  type GroupServer,
} from "./groups";
import { QUEUE_NAME, queuedEvent } from "./processes";

const WAITS = 300;

/** A disturbance of the node of the queue. */
interface Disturbance extends ClusterSettings {
  name: string;
  /** The option of the queue. */
  replicas: number;
  disturb(owner: GroupServer): unknown;
}

const kill = (owner: GroupServer) => owner.child.kill("SIGKILL");

/** For a second, the node stores events that no replica gets. */
async function cutOffAndKill(owner: GroupServer): Promise<void> {
  await cutOff(owner);
  await sleep(1_000);
  kill(owner);
}

async function startLater(owner: GroupServer): Promise<void> {
  await sleep(4_000);
  await owner.start();
}

const ONE_REPLICA = { replicas: 0, replicasEach: 1, isTranslated: false };
const DISTURBANCES: Disturbance[] = [
  { ...ONE_REPLICA, name: "killed", disturb: kill },
  { ...ONE_REPLICA, name: "killed, with a natMap", isTranslated: true, disturb: kill },
  { ...ONE_REPLICA, name: "frozen", disturb: (owner) => owner.child.kill("SIGSTOP") },
  { ...ONE_REPLICA, name: "cut off for 1 s, then killed", disturb: cutOffAndKill },
  {
    name: "cut off for 1 s, then killed",
    replicas: 1,
    replicasEach: 2,
    isTranslated: false,
    disturb: cutOffAndKill,
  },
  // The new primary needs the former one as its replica.
  {
    ...ONE_REPLICA,
    name: "killed, started again after 4 s",
    replicas: 1,
    async disturb(owner) {
      kill(owner);
      await startLater(owner);
    },
  },
  {
    ...ONE_REPLICA,
    name: "cut off for 1 s, then killed, started again after 4 s",
    replicas: 1,
    async disturb(owner) {
      await cutOffAndKill(owner);
      await startLater(owner);
    },
  },
];

async function findOwner(nodes: GroupServer[]): Promise<GroupServer> {
  const redis = new Redis(nodes[0]?.port ?? 0);
  const slot = await redis.cluster("KEYSLOT", "{push}");
  const ranges = (await redis.cluster("SLOTS")) as unknown as [number, number, [string, number]][];
  redis.disconnect();
  const [, , [, port]] = ranges.find(([from, to]) => slot >= from && slot <= to) ?? [0, 0, ["", 0]];
  const owner = nodes.find((node) => node.port === port);
  if (owner === undefined) throw new Error(`No node has slot ${slot}.`);
  return owner;
}

function toNatMap(nodes: GroupServer[]) {
  const entries = nodes.map(
    ({ port }) => [`${ANNOUNCED_HOST}:${port}`, { host: "127.0.0.1", port }] as const,
  );
  return Object.fromEntries(entries);
}

async function measure({ name, replicas, disturb, ...settings }: Disturbance): Promise<void> {
  const nodes = await startCluster(settings);
  const natMap = settings.isTranslated ? toNatMap(nodes) : undefined;
  const cluster = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  const logger = { debug() {}, info() {}, warn() {}, error: console.error };
  const connection = { cluster, natMap };
  const queue = redisQueue({ name: QUEUE_NAME, connection, replicas, logger });
  await queue.ready();
  const handled = new Set<string>();
  const handlers = createHandlers().onAny(({ uuid }) => void handled.add(uuid));
  // An event that a worker handled before the disturbance cannot be lost.
  const isCutOff = name.startsWith("cut off");
  if (!isCutOff) queue.work(handlers);
  const owner = await findOwner(nodes);
  const waits: Promise<boolean>[] = [];
  const store = async (uuid: string) => {
    const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
    const event = eventFixture("challenge.approved", { uuid, challenge_sid });
    if (waits.length < WAITS) {
      const wait = queue.outcomes.wait({
        authenticatedAccount: "",
        challengeSid: challenge_sid,
        timeoutMs: 30_000,
      });
      waits.push(
        wait.then(
          () => true,
          () => false,
        ),
      );
    }
    const result = await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    if (result !== "new") console.error(`A new event counts as ${result}.`);
  };
  const { stored, failed, gapMs } = await load({ beforeMs: 3_000, afterMs: 17_000 }, store, () =>
    disturb(owner),
  );
  if (isCutOff) queue.work(handlers);
  const lostWaits = (await Promise.all(waits)).filter((isResolved) => !isResolved).length;
  const listLost = () => stored.filter((uuid) => !handled.has(uuid));
  const deadlineMs = performance.now() + 15_000;
  while (listLost().length > 0 && performance.now() < deadlineMs) await sleep(50);
  console.log(
    `owner ${name}; replicas: ${replicas}, ${settings.replicasEach} of each primary: ${stored.length} stored, ${listLost().length} lost, ${failed} failed, gap ${gapMs} ms, ${lostWaits} of ${waits.length} waits lost`,
  );
  await queue.close({ deadlineMs: 1_000 });
  await removeGroups();
}

async function main(): Promise<void> {
  const { ONLY = "" } = process.env;
  for (const disturbance of DISTURBANCES) {
    if (disturbance.name.includes(ONLY)) await measure(disturbance);
  }
  process.exit();
}

void main();
