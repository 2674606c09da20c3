import { durableQueue, DurabilityError } from "express-push-verification/durable";
import { DURABLE, describeWithRedis, startRedis, stopRedis } from "../support/redis";

const params: [string, string][] = [["uuid", "a"]];
const call = { uuid: "a", contentHash: "h", event: { params } as never, authTokenIndex: 0 };

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
  ])("is required: with %j it says which lines to change", async (settings, lines) => {
    const { url } = await startRedis(settings);
    const queue = durableQueue({ connection: url, holdMs: 100 });
    const refusal = await queue.ready().catch((error: unknown) => error as Error);
    expect(refusal).toBeInstanceOf(DurabilityError);
    for (const line of lines) expect(String(refusal)).toContain(`\n  ${line}\n`);
    expect(String(refusal).match(/\n {2}/g)).toHaveLength(lines.length);
    await expect(queue.store(call)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause: refusal,
    });
    expect(warnings).toHaveBeenCalled();
    await queue.close();
  });

  it("is warned of", async () => {
    const { url } = await startRedis({ appendonly: "no" });
    const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    for (const options of [{}, { logger }]) {
      const queue = durableQueue({ connection: url, durability: "warn", ...options });
      await queue.ready();
      await queue.close();
    }
    expect(warnings.mock.calls).toMatchObject([[expect.stringContaining("appendonly yes"), {}]]);
    expect(logger.warn.mock.calls).toMatchObject([[{}, expect.stringContaining("appendonly yes")]]);
  });

  it("is trusted where one may not look, and says so where it is not", async () => {
    const { url, redis } = await startRedis();
    await redis.acl("SETUSER", "app", "on", ">hush", "~*", "&*", "+@all", "-config");
    const connection = url.replace("//", "//app:hush@");
    const asking = durableQueue({ connection, holdMs: 100 });
    await expect(asking.ready()).rejects.toThrow(/durability: "trust"/);
    await asking.close();
    const trusting = durableQueue({ connection, durability: "trust" });
    await trusting.ready();
    expect(await trusting.store(call)).toBe("new");
    await trusting.close();
  });

  it("can ask for replicas", async () => {
    const primary = await startRedis({ ...DURABLE, "repl-diskless-sync-delay": "0" });
    const queue = durableQueue({ connection: primary.url, replicas: 1, holdMs: 4_000 });
    await queue.ready();
    await expect(queue.store(call)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    const replica = await startRedis();
    await replica.redis.replicaof("127.0.0.1", primary.port);
    expect(await queue.store(call)).toMatch(/new|duplicate/);
    await queue.close();
  }, 20_000);
});
