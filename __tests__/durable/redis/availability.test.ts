/** What ready() waits for, logs and reports; setups/redis.test.ts has the set-ups in which it rejects. */
import { createHandlers } from "express-push-verification";
import {
  QueueError,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { closeLater, receiveInto, storeFactor, untilStats } from "../../support/durable";
import { DURABLE, startRedis } from "../../support/redis";
import { describeRedisQueues } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { until } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { eventRequest } from "../../support/webhook-requests";
import { trySetup } from "../setups/setup";

/** Returns the rejection of ready(), or undefined. */
const settle = (queue: DurableQueue) => queue.ready().catch((error: unknown) => error);
const createLogger = () => ({
  debug: jest.fn(),
  info: jest.fn(),
  warn: jest.fn(),
  error: jest.fn(),
});

describeRedisQueues("a queue in Redis", (app) => {
  const warnings = useWarnings();
  let logger: ReturnType<typeof createLogger>;
  beforeEach(() => {
    logger = createLogger();
  });
  afterEach(() => void jest.restoreAllMocks());

  const open = (options: Partial<RedisQueueOptions> = {}) =>
    app.open({ storeTimeoutMs: 1_000, logger, ...options });
  const untilLogged = (level: "info" | "warn") => until(() => logger[level].mock.calls.length > 0);

  it("that rejects logs that once, and opens no further connections", async () => {
    const { redis, readInfo } = app.server;
    await redis.config("SET", "appendonly", "no");
    const queue = open();
    const error = await settle(queue);
    expect(error).toBeInstanceOf(QueueError);
    const countConnections = () => readInfo("stats", "total_connections_received:");
    const countChecks = () => readInfo("commandstats", "cmdstat_config|get:calls=");
    const [connections, checks] = [await countConnections(), await countChecks()];
    await until(async () => (await countChecks()) > checks);
    expect(await countConnections()).toBe(connections);
    expect(logger.error).toHaveBeenCalledTimes(1);
    const unavailable = { code: "STORE_UNAVAILABLE", cause: error };
    await expect(storeFactor(queue, "a")).rejects.toMatchObject(unavailable);
  });

  it('warns with durability "warn"', async () => {
    await app.server.redis.config("SET", "appendonly", "no");
    for (const own of [undefined, logger]) await open({ durability: "warn", logger: own }).ready();
    const words = expect.stringContaining("appendonly yes");
    expect(warnings.list()).toMatchObject([[words, {}]]);
    expect(logger.warn.mock.calls).toMatchObject([[{}, words]]);
  });

  it("is ready once Redis accepts the password, which is logged nowhere", async () => {
    const queue = open({ connection: app.server.url.replace("//", "//app:hush-hush@") });
    expect(String(await settle(queue))).toMatch(/WRONGPASS.*Check username, password/);
    await app.server.redis.acl("SETUSER", "app", "on", ">hush-hush", "~*", "&*", "+@all");
    await until(async () => (await settle(queue)) === undefined);
    expect(await storeFactor(queue, "a")).toBe("new");
    const logged = JSON.stringify(Object.values(logger).map(({ mock }) => mock.calls));
    expect(logged).toContain("WRONGPASS");
    expect(logged).not.toContain("hush");
  });

  it("is ready without a command only if it needs it for nothing", async () => {
    const { redis, url } = app.server;
    await redis.config("RESETSTAT");
    const options = { backoff: 20 };
    expect(await trySetup(() => open(options))).toMatchObject({ ready: "resolved" });
    const used = [...(await redis.info("commandstats")).matchAll(/^cmdstat_([^:]+):/gm)];
    // Those of this test, and the ones that the queue can do without.
    const own = /^(acl|config|info|client|hello|ping|auth|select|command|function)/;
    const commands = used.flatMap(([, command = ""]) => (own.test(command) ? [] : [command]));
    expect(commands.length).toBeGreaterThan(30);
    const isReady = async (command: string) => {
      await redis.acl("SETUSER", command, "on", ">pw", "~*", "&*", "+@all", `-${command}`);
      const queue = open({ ...options, connection: url.replace("//", `//${command}:pw@`) });
      const settled = await settle(queue);
      await queue.close();
      return settled === undefined ? command : [];
    };
    expect((await Promise.all(commands.map(isReady))).flat()).toEqual([]);
  });

  it("logs why Redis is out of reach, with the words of the connection", async () => {
    await app.server.stop();
    const queue = open();
    await untilLogged("warn");
    const message = expect.stringContaining("ECONNREFUSED");
    expect(logger.warn).toHaveBeenCalledWith({ code: "ECONNREFUSED" }, message);
    await expect(storeFactor(queue, "a")).rejects.toMatchObject({ cause: { message } });
  });

  it("with replicas stores only when they have confirmed", async () => {
    await app.server.redis.config("SET", "repl-diskless-sync-delay", "0");
    const queue = open({ replicas: 1, storeTimeoutMs: 4_000 });
    await queue.ready();
    await expect(storeFactor(queue, "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const replica = await startRedis();
    await replica.redis.replicaof("127.0.0.1", app.server.port);
    expect(await storeFactor(queue, "a")).toMatch(/new|duplicate/);
  });

  it("stores a webhook request that waited until Redis had loaded", async () => {
    const { redis, stop, start } = app.server;
    await Promise.all(Array.from({ length: 30 }, (_, key) => redis.set(`k${key}`, "x")));
    const { queue, deliver } = await receiveInto(app.open());
    let count = 0;
    queue.work(createHandlers().onAny(() => void count++));
    await queue.ready();
    await stop();
    await start({ ...DURABLE, "key-load-delay": "50000" });
    expect(await deliver(eventRequest("factor.created"))).toBe(200);
    await until(() => count === 1);
  });

  it("reports one outage behind a proxy that accepts and closes connections meanwhile", async () => {
    const proxy = closeLater(await startRedisProxy(app.server.port));
    const queue = open({ connection: proxy.url });
    await queue.ready();
    await app.server.stop("SIGKILL");
    await untilLogged("warn");
    await proxy.closes(3);
    await app.server.start();
    await untilLogged("info");
    await queue.stats();
    await new Promise(setImmediate);
    expect([logger.warn.mock.calls.length, logger.info.mock.calls.length]).toEqual([1, 1]);
  });

  it("warns the process once in each outage when there is no logger", async () => {
    const queue = open({ logger: undefined });
    await queue.ready();
    for (const outage of [1, 2]) {
      await app.server.stop("SIGKILL");
      await until(() => warnings.list().length === outage);
      await app.server.start();
      await until(() => queue.stats().then(Boolean, () => false));
    }
    const warning = [
      expect.stringMatching(/^Redis cannot be used: /),
      { type: "PushWebhooksWarning", code: "REDIS_UNREACHABLE" },
    ];
    expect(warnings.list()).toEqual([warning, warning]);
  });

  it("is healthy while idle, and unhealthy within 30 s when the worker's connection is blocked", async () => {
    let passedMs = 0;
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      jest.spyOn(clock, "now").mockImplementation(() => now() + passedMs);
    }
    const proxy = closeLater(await startRedisProxy(app.server.port));
    const queue = app.open({ connection: proxy.url });
    await queue.ready();
    // The command with which the worker waits for the next event.
    const blocked = proxy.drop("bzpopmin");
    let handled = 0;
    queue.work(createHandlers().onAny(() => handled++));
    await blocked;
    await untilStats(queue, { workers: 1 });
    passedMs += 60_000;
    expect(await queue.health()).toEqual({ status: "healthy" });
    await storeFactor(queue, "a");
    passedMs += 15_000;
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "WORKER_STOPPED" });
    expect(handled).toBe(0);
    jest.restoreAllMocks();
    await queue.close({ deadlineMs: 0 });
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
  });
});
