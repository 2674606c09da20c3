import { setImmediate } from "node:timers/promises";
import { Cluster, type Redis } from "ioredis";
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { QUEUE_NAME as name, queuedEvent, silent } from "../../support/durable";
import { describeWithRedis, stopRedis, until, type RedisServer } from "../../support/redis";
import { findOwner, startRedisCluster, untilClusterIsUp } from "../../support/redis-cluster";
import { endConnection, openConnection } from "../../../lib/durable/redis/connection";
import { createMemoryGuard } from "../../../lib/durable/redis/memory-guard";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";
import { createReplicaConfirmation } from "../../../lib/durable/redis/replica-confirmation";

const KEY = "{push}:any";

describeWithRedis("a cluster", () => {
  let nodes: RedisServer[];
  let addresses: { host: string; port: number }[];

  beforeAll(async () => {
    nodes = await startRedisCluster(3);
    addresses = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  }, 30_000);
  afterAll(stopRedis);

  it("stores events, and runs their handlers", async () => {
    const connection = { cluster: addresses };
    const queue = redisQueue({ name, connection, durability: "trust", logger: silent });
    await queue.ready();
    const handled: string[] = [];
    queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
    const event = eventFixture("challenge.approved", { uuid: "a" });
    expect(await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY)).toBe("new");
    await until(() => handled.length === 1);
    await until(async () => (await queue.stats()).active === 0);
    expect(await queue.stats()).toMatchObject({ waiting: 0, deadLetters: 0, workers: 1 });
    await queue.close();
  });

  /** A part of the queue that sends several commands in a row. */
  interface Sender {
    connection: Redis;
    /** Resolves when its commands are sent, before any reply arrives. */
    send(): Promise<void>;
    close(): void;
  }

  function openGuard(): Sender {
    const settings = resolveRedisOptions({ name, connection: { cluster: addresses } });
    const connection = openConnection(settings, "store");
    const guard = createMemoryGuard(connection, settings);
    async function send(): Promise<void> {
      guard.admit(1)?.catch(() => {});
      await setImmediate();
    }
    return { connection, send, close: () => endConnection(connection) };
  }

  function openConfirmation(): Sender {
    const instance = new Cluster(addresses, { lazyConnect: true });
    const opened: Cluster[] = [];
    const duplicate = instance.duplicate.bind(instance);
    instance.duplicate = (...args) => {
      const copy = duplicate(...args);
      opened.push(copy);
      return copy;
    };
    const settings = resolveRedisOptions({ name, connection: instance, replicas: 1 });
    const confirmation = createReplicaConfirmation(settings, () => {});
    return {
      connection: opened[0] as unknown as Redis,
      async send() {
        confirmation.confirm(KEY).catch(() => {});
      },
      close: confirmation.close,
    };
  }

  /**
   * ioredis sends each command of a pipeline to a node of its own choice while it has no connection to
   * the node of the key: the first may be rejected and the second chosen for a node that is connected.
   * The second is then never sent, and takes the reply to the next command of that connection.
   */
  it.each([
    ["the memory guard", openGuard],
    ["the confirmation of replicas", openConfirmation],
  ])(
    "mixes up no replies when %s meets a lost and a frozen node",
    async (_what, openSender) => {
      const owner = await findOwner(nodes, KEY);
      const [frozen, healthy] = nodes.filter((node) => node !== owner) as [
        RedisServer,
        RedisServer,
      ];
      const sender = openSender();
      const cluster = sender.connection as unknown as Cluster;
      const listNodes = () => cluster.nodes("master");
      const nodeOf = ({ port }: RedisServer) =>
        listNodes().find(({ options }) => options.port === port);
      const connect = (node: Redis) => void node.connect().catch(() => {});
      try {
        await until(() => cluster.status === "ready" && listNodes().length === 3);
        for (const node of listNodes()) await node.ping();
        await owner.stop("SIGKILL");
        frozen.freeze();
        nodeOf(frozen)?.disconnect();

        // ioredis removes the lost node from its list, and adds it again at each refresh of the slots.
        await until(async () => {
          const [lost, waiting] = [nodeOf(owner), nodeOf(frozen)];
          for (const node of [lost, waiting]) if (node?.status === "wait") connect(node);
          if (lost !== undefined || waiting?.status.startsWith("connect") !== true) return false;
          if (nodeOf(healthy)?.status !== "ready") return false;
          const ports = listNodes().map(({ options }) => options.port);
          const random = jest.spyOn(Math, "random");
          for (const { port } of [frozen, healthy]) {
            random.mockReturnValueOnce(ports.indexOf(port) / ports.length);
          }
          await sender.send();
          random.mockRestore();
          return true;
        });
        const texts = ["a", "b", "c"];
        const echoes = texts.map(async (text) => nodeOf(healthy)?.echo(text));
        expect(await Promise.all(echoes)).toEqual(texts);
      } finally {
        sender.close();
        frozen.thaw();
        await owner.start();
        await untilClusterIsUp(nodes);
      }
    },
    60_000,
  );
});
