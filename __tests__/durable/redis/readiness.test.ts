/** What ready() waits for and logs; setups/redis.test.ts has the set-ups in which it rejects. */
import {
  QueueError,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { storeFactor } from "../../support/durable";
import { DURABLE, startRedis } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { until } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { trySetup } from "../setups/try-setup";

/** Returns the rejection of ready(). */
const settle = (queue: DurableQueue): Promise<unknown> =>
  queue.ready().then(
    () => "ready",
    (error: unknown) => error,
  );

describeRedisQueues("ready()", () => {
  const warnings = useWarnings();
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  beforeEach(() => {
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  });

  const open = (
    connection: RedisQueueOptions["connection"],
    options: Partial<RedisQueueOptions> = {},
  ) => openRedisQueue(connection, { storeTimeoutMs: 1_000, logger, ...options });

  it("that rejects is logged once, and opens no further connections", async () => {
    const { url, redis } = await startRedis({ appendonly: "no" });
    const queue = open(url);
    const error = await settle(queue);
    expect(error).toBeInstanceOf(QueueError);
    const countConnections = async () =>
      /^total_connections_received:(\d+)/m.exec(await redis.info("stats"))?.[1];
    const countChecks = async () =>
      Number(/^cmdstat_config\|get:calls=(\d+)/m.exec(await redis.info("commandstats"))?.[1]);
    const [connections, checks] = [await countConnections(), await countChecks()];
    await until(async () => (await countChecks()) > checks);
    expect(await countConnections()).toBe(connections);
    expect(logger.error).toHaveBeenCalledTimes(1);
    const unavailable = { code: "STORE_UNAVAILABLE", cause: error };
    await expect(storeFactor(queue, "a")).rejects.toMatchObject(unavailable);
  });

  it('warns with durability "warn"', async () => {
    const { url } = await startRedis({ appendonly: "no" });
    for (const own of [undefined, logger]) {
      await open(url, { durability: "warn", logger: own }).ready();
    }
    const words = expect.stringContaining("appendonly yes");
    expect(warnings.list()).toMatchObject([[words, {}]]);
    expect(logger.warn.mock.calls).toMatchObject([[{}, words]]);
  });

  it("resolves once Redis accepts the password, which is logged nowhere", async () => {
    const { url, redis } = await startRedis();
    const queue = open(url.replace("//", "//app:hush-hush@"));
    expect(String(await settle(queue))).toMatch(/WRONGPASS.*Check username, password/);
    await redis.acl("SETUSER", "app", "on", ">hush-hush", "~*", "&*", "+@all");
    await until(async () => (await settle(queue)) === "ready");
    expect(await storeFactor(queue, "a")).toBe("new");
    const logged = JSON.stringify(Object.values(logger).map(({ mock }) => mock.calls));
    expect(logged).toContain("WRONGPASS");
    expect(logged).not.toContain("hush");
  });

  it("resolves without a command only if the queue needs it for nothing", async () => {
    const { url, redis } = await startRedis();
    await redis.config("RESETSTAT");
    const options = { backoff: 20 };
    expect(await trySetup(() => open(url, options))).toMatchObject({ ready: "resolved" });
    const used = [...(await redis.info("commandstats")).matchAll(/^cmdstat_([^:]+):/gm)];
    // Those of this test, and the ones that the queue can do without.
    const own = /^(acl|config|info|client|hello|ping|auth|select|command|function)/;
    const commands = used.flatMap(([, command = ""]) => (own.test(command) ? [] : [command]));
    expect(commands.length).toBeGreaterThan(30);
    const resolved: string[] = [];
    await Promise.all(
      commands.map(async (command) => {
        await redis.acl("SETUSER", command, "on", ">pw", "~*", "&*", "+@all", `-${command}`);
        const queue = open(url.replace("//", `//${command}:pw@`), options);
        if ((await settle(queue)) === "ready") resolved.push(command);
        await queue.close();
      }),
    );
    expect(resolved).toEqual([]);
  });

  it("logs why Redis is out of reach, with the words of the connection", async () => {
    const server = await startRedis();
    await server.stop();
    const queue = open(server.url);
    await until(() => logger.warn.mock.calls.length > 0);
    const message = expect.stringContaining("ECONNREFUSED");
    expect(logger.warn).toHaveBeenCalledWith({ code: "ECONNREFUSED" }, message);
    await expect(storeFactor(queue, "a")).rejects.toMatchObject({ cause: { message } });
  });

  it("with replicas stores only when they have confirmed", async () => {
    const primary = await startRedis({ ...DURABLE, "repl-diskless-sync-delay": "0" });
    const queue = open(primary.url, { replicas: 1, storeTimeoutMs: 4_000 });
    await queue.ready();
    await expect(storeFactor(queue, "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const replica = await startRedis();
    await replica.redis.replicaof("127.0.0.1", primary.port);
    expect(await storeFactor(queue, "a")).toMatch(/new|duplicate/);
  });
});
