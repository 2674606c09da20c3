import { redisQueue, QueueError, type DurableQueue } from "express-push-verification/durable";
import { QUEUE_NAME as name, queuedParams } from "../../support/durable";
import { DURABLE, describeWithRedis, startRedis, stopRedis } from "../../support/redis";

const event = queuedParams([["uuid", "a"]]);
const store = (queue: DurableQueue) => queue.store(event, Number.POSITIVE_INFINITY);

describeWithRedis("the durability of Redis", () => {
  let warnings: jest.SpyInstance;
  beforeEach(() => {
    warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterEach(async () => {
    warnings.mockRestore();
    await stopRedis();
  });

  it.each<[Record<string, string>, string[]]>([
    [{ appendonly: "no" }, ["appendonly yes", "appendfsync always"]],
    [{ ...DURABLE, appendfsync: "everysec" }, ["appendfsync always"]],
    [
      { ...DURABLE, maxmemory: "100mb", "maxmemory-policy": "allkeys-lru" },
      ["maxmemory-policy noeviction"],
    ],
  ])("rejects ready() with the lines to change for %j", async (settings, lines) => {
    const { url } = await startRedis(settings);
    const queue = redisQueue({ name, connection: url, storeTimeoutMs: 100 });
    const rejection = await queue.ready().catch((error: unknown) => error as Error);
    expect(rejection).toBeInstanceOf(QueueError);
    for (const line of lines) expect(String(rejection)).toContain(`\n  ${line}\n`);
    expect(String(rejection).match(/\n {2}/g)).toHaveLength(lines.length);
    await expect(store(queue)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause: rejection,
    });
    expect(warnings).toHaveBeenCalled();
    await queue.close();
  });

  it('is reported as a warning with durability "warn"', async () => {
    const { url } = await startRedis({ appendonly: "no" });
    const listed = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    for (const logger of [undefined, listed]) {
      const queue = redisQueue({ name, connection: url, durability: "warn", logger });
      await queue.ready();
      await queue.close();
    }
    expect(warnings.mock.calls).toMatchObject([[expect.stringContaining("appendonly yes"), {}]]);
    expect(listed.warn.mock.calls).toMatchObject([[{}, expect.stringContaining("appendonly yes")]]);
  });

  it('asks for durability "provider" where CONFIG is denied, and stores then', async () => {
    const { url, redis } = await startRedis();
    await redis.acl("SETUSER", "app", "on", ">hush", "~*", "&*", "+@all", "-config");
    const connection = url.replace("//", "//app:hush@");
    const asking = redisQueue({ name, connection, storeTimeoutMs: 100 });
    await expect(asking.ready()).rejects.toThrow(/NOPERM.*durability: "provider"/);
    await asking.close();
    for (const durability of ["provider", "trust"] as const) {
      const trusting = redisQueue({ name: durability, connection, durability });
      await trusting.ready();
      expect(await store(trusting)).toBe("new");
      await trusting.close();
    }
  });

  it("stores only when the replicas have confirmed", async () => {
    const primary = await startRedis({ ...DURABLE, "repl-diskless-sync-delay": "0" });
    const queue = redisQueue({
      name,
      connection: primary.url,
      replicas: 1,
      storeTimeoutMs: 4_000,
    });
    await queue.ready();
    await expect(store(queue)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    const replica = await startRedis();
    await replica.redis.replicaof("127.0.0.1", primary.port);
    expect(await store(queue)).toMatch(/new|duplicate/);
    await queue.close();
  }, 20_000);
});
