/**
 * 100 events a second are stored in a cluster, with 300 waits for a challenge, while the node of the
 * queue is killed and while it is frozen: failed events, longest gap, lost waits.
 *
 * npx tsx bench/durable/cluster.ts
 */
import { createHandlers } from "express-push-verification";
import { durableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { Redis } from "ioredis";
import { load, removeGroups, startCluster, type GroupServer } from "./groups";
import { QUEUE_NAME, queuedEvent } from "./processes";

const WAITS = 300;

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

async function measure(signal: "SIGKILL" | "SIGSTOP"): Promise<void> {
  const nodes = await startCluster();
  const cluster = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  const logger = { debug() {}, info() {}, warn() {}, error: console.error };
  const queue = durableQueue({ name: QUEUE_NAME, connection: { cluster }, logger });
  await queue.ready();
  let handled = 0;
  queue.work(createHandlers().onAny(() => void handled++));
  const owner = await findOwner(nodes);
  const waits: Promise<boolean>[] = [];
  const store = async (uuid: string) => {
    const challenge_sid = `YC${uuid.replaceAll("-", "")}`;
    const event = eventFixture("challenge.approved", { uuid, challenge_sid });
    if (waits.length < WAITS) {
      const wait = queue.outcomes.wait({
        account: "",
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
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
  };
  const { stored, failed, gapMs } = await load(15_000, store, () => owner.child.kill(signal));
  const lostWaits = (await Promise.all(waits)).filter((isResolved) => !isResolved).length;
  const deadlineMs = performance.now() + 10_000;
  while (handled < stored.length && performance.now() < deadlineMs) {
    await new Promise((later) => setTimeout(later, 50));
  }
  console.log(
    `owner ${signal === "SIGKILL" ? "killed" : "frozen"}: ${stored.length} stored, ${handled} handled, ${failed} failed, gap ${gapMs} ms, ${lostWaits} of ${waits.length} waits lost`,
  );
  await queue.close({ deadlineMs: 1_000 });
  await removeGroups();
}

async function main(): Promise<void> {
  await measure("SIGKILL");
  await measure("SIGSTOP");
  process.exit();
}

void main();
