import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandlers } from "express-push-verification";
import {
  QueueError,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, queuedParams } from "../../support/durable";
import {
  DURABLE,
  describeWithRedis,
  startRedis,
  until,
  type RedisServer,
} from "../../support/redis";
import { useRedisQueues } from "../../support/redis-queues";

const store = (queue: DurableQueue) =>
  queue.store(queuedParams([["uuid", "a"]]), Number.POSITIVE_INFINITY);

describeWithRedis("ready()", () => {
  const { open: openQueue } = useRedisQueues();
  let folder: string;
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "push-conf-"));
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (connection: string, options: Partial<RedisQueueOptions> = {}) =>
    openQueue(connection, { storeTimeoutMs: 1_000, logger, ...options });

  /** Starts a Redis where CONFIG is another command: its reply is that of the other. */
  async function startWithConfigAs(command: string): Promise<RedisServer> {
    const file = join(folder, "rename.conf");
    writeFileSync(file, `rename-command CONFIG ""\nrename-command ${command} CONFIG\n`);
    return startRedis({ ...DURABLE, include: file });
  }

  /** Returns the rejection of ready(). */
  const settle = (queue: DurableQueue): Promise<unknown> =>
    queue.ready().then(
      () => "ready",
      (error: unknown) => error,
    );

  const connectionCount = async ({ redis }: RedisServer) =>
    Number((/^total_connections_received:(\d+)/m.exec(await redis.info("stats")) ?? [])[1]);

  describe.each([
    ["an error", "RENAME", "no such key"],
    ["an empty list", "SINTER", "replied nothing"],
  ])("where CONFIG replies %s,", (_reply, command, words) => {
    it("rejects with the words of Redis, logs once, and opens no further connections", async () => {
      const server = await startWithConfigAs(command);
      const queue = open(server.url);
      const error = await settle(queue);
      expect(error).toBeInstanceOf(QueueError);
      expect(String(error)).toContain(words);
      expect(String(error)).toContain('durability: "provider"');
      const before = await connectionCount(server);
      const checkCount = async () => {
        const text = await server.redis.info("commandstats");
        return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "im").exec(text)?.[1]);
      };
      const checksBefore = await checkCount();
      await until(async () => (await checkCount()) > checksBefore);
      expect(await connectionCount(server)).toBe(before);
      expect(logger.error).toHaveBeenCalledTimes(1);
      await expect(store(queue)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", cause: error });
    });

    it.each(["warn", "provider", "trust"] as const)('resolves with "%s"', async (durability) => {
      const { url } = await startWithConfigAs(command);
      const queue = open(url, { durability });
      expect(await settle(queue)).toBe("ready");
      expect(await store(queue)).toBe("new");
      expect(logger.warn).toHaveBeenCalledTimes(durability === "warn" ? 1 : 0);
    });
  });

  it('"provider" rejects a wrong setting', async () => {
    const { url } = await startRedis({ ...DURABLE, appendfsync: "everysec" });
    const error = await settle(open(url, { durability: "provider" }));
    expect(String(error)).toContain("appendfsync always");
  });

  it.each([
    ["a wrong password", { requirepass: "pw" }, "//:hush-password@", "WRONGPASS"],
    ["no password", { requirepass: "pw" }, "//", "NOAUTH"],
  ])("rejects for %s with the words of Redis", async (_what, settings, authority, words) => {
    const { url } = await startRedis({ ...DURABLE, ...settings });
    const queue = open(url.replace("//", authority));
    const error = await settle(queue);
    expect(error).toMatchObject({ code: "REDIS_REJECTED", cause: expect.any(Error) });
    expect(String(error)).toContain(words);
    expect(JSON.stringify(logger.error.mock.calls)).toContain(words);
    expect(JSON.stringify([logger.error.mock.calls, String(error)])).not.toContain("hush");
    await expect(store(queue)).rejects.toMatchObject({
      cause: { message: expect.stringContaining(words) },
    });
  });

  it("rejects for a Redis without INFO, and says so once", async () => {
    const file = join(folder, "rename.conf");
    writeFileSync(file, 'rename-command INFO ""\n');
    const { url } = await startRedis({ ...DURABLE, include: file });
    const queue = open(url);
    const error = await settle(queue);
    expect(error).toMatchObject({ code: "REDIS_REJECTED" });
    expect(String(error)).toMatch(/unknown command.*INFO included/i);
    expect(String(error)).not.toContain("password");
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it("resolves once Redis accepts the password", async () => {
    const { url, redis } = await startRedis();
    const queue = open(url.replace("//", "//app:pw@"));
    expect(String(await settle(queue))).toMatch(/WRONGPASS.*Check username, password/);
    await redis.acl("SETUSER", "app", "on", ">pw", "~*", "&*", "+@all");
    await until(async () => (await settle(queue)) === "ready");
    expect(await store(queue)).toBe("new");
  }, 15_000);

  it("stores events and runs their handlers for a user that may not run INFO", async () => {
    const { url, redis } = await startRedis();
    await redis.acl("SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-info");
    // ioredis writes that it skips its check.
    const warned = jest.spyOn(console, "warn").mockImplementation(() => {});
    const queue = open(url.replace("//", "//app:pw@"), { attempts: 2, backoff: 20 });
    expect(await settle(queue)).toBe("ready");
    const attempts: number[] = [];
    const handlers = createHandlers().onAny((_event, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error("again");
    });
    queue.work(handlers, { onError: () => {} });
    await until(async () => (await queue.stats()).workers === 1);
    const event = queuedEvent(eventFixture("factor.created"));
    expect(await queue.store(event, Number.POSITIVE_INFINITY)).toBe("new");
    await until(() => attempts.length === 2);
    await queue.close();
    warned.mockRestore();
    await until(async () => !String(await redis.client("LIST")).includes("push-webhooks"));
  }, 20_000);

  it("rejects for a node of a cluster, and names the option", async () => {
    const { url } = await startRedis({ ...DURABLE, "cluster-enabled": "yes" });
    expect(await settle(open(url))).toMatchObject({
      code: "REDIS_REJECTED",
      message: expect.stringContaining("connection: { cluster:"),
    });
  });

  it("rejects for a replica, and resolves when it is the primary", async () => {
    const { url, redis } = await startRedis();
    await redis.replicaof("127.0.0.1", "1");
    const queue = open(url);
    expect(await settle(queue)).toMatchObject({
      code: "REDIS_REJECTED",
      message: expect.stringContaining("replica"),
    });
    await redis.replicaof("NO", "ONE");
    await until(async () => (await settle(queue)) === "ready");
  }, 20_000);

  it("logs why Redis is out of reach, with the words of the connection", async () => {
    const server = await startRedis();
    await server.stop();
    const queue = open(server.url);
    await until(() => logger.warn.mock.calls.length > 0);
    expect(logger.warn).toHaveBeenCalledWith(
      { code: "ECONNREFUSED" },
      expect.stringContaining("ECONNREFUSED"),
    );
    await expect(store(queue)).rejects.toMatchObject({
      cause: { message: expect.stringContaining("ECONNREFUSED") },
    });
  });
});
