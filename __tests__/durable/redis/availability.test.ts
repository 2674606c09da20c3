/** What ready() waits for, logs and reports; setups/redis.test.ts has the set-ups in which it rejects. */
import { createHandlers, WebhookError } from "express-push-verification";
import {
  QueueError,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import {
  QUEUE_NAME,
  closeLater,
  queuedEvent,
  receiveInto,
  storeFactor,
  untilStats,
} from "../../support/durable";
import { DURABLE, startRedis } from "../../support/redis";
import { describeOnRedis } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { shorten, testSignal, until } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { eventRequest } from "../../support/webhook-requests";
import { trySetup } from "../setups/setup";

const settle = (queue: DurableQueue) => queue.ready().catch((error: unknown) => error);
const META = `push:${QUEUE_NAME}:meta`;
const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };

describeOnRedis("a queue in Redis", (app) => {
  const warnings = useWarnings();
  beforeEach(() => void jest.clearAllMocks());

  const open = (options: Partial<RedisQueueOptions> = {}) => app.open({ logger, ...options });
  const openHurried = () => open({ storeTimeoutMs: 1_000 });

  it("that rejects logs that once", async () => {
    const { redis, readInfo } = app.server();
    await redis.config("SET", "appendonly", "no");
    const queue = openHurried();
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

  it('with durability: "warn" warns', async () => {
    await app.server().redis.config("SET", "appendonly", "no");
    for (const own of [undefined, logger]) await open({ durability: "warn", logger: own }).ready();
    const words = expect.stringContaining("appendonly yes");
    expect(warnings.list()).toMatchObject([[words, { type: "DurabilityWarning" }]]);
    expect(logger.warn.mock.calls).toMatchObject([[{}, words]]);
  });

  it("is ready once Redis accepts the password", async () => {
    const connection = app.server().url.replace("//", "//app:hush-hush@");
    const queue = open({ connection });
    expect(String(await settle(queue))).toMatch(/WRONGPASS.*Check username and password/);
    await app.server().redis.acl("SETUSER", "app", "on", ">hush-hush", "~*", "&*", "+@all");
    await until(async () => (await settle(queue)) === undefined);
    expect(await storeFactor(queue, "a")).toBe("new");
    const logged = JSON.stringify(Object.values(logger).map(({ mock }) => mock.calls));
    expect(logged).toContain("WRONGPASS");
    expect(logged).not.toContain("hush");
  });

  it("is ready without a command only if it needs it for nothing", async () => {
    const { redis, url } = app.server();
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
    // Without DEL, the key of the attempt expires.
    app.leave("check");
    expect((await Promise.all(commands.map(isReady))).flat()).toEqual([]);
  });

  it("with replicas stores only when they have confirmed", async () => {
    await app.server().redis.config("SET", "repl-diskless-sync-delay", "0");
    const queue = open({ storeTimeoutMs: 1_000, replicas: 1 });
    await queue.ready();
    await expect(storeFactor(queue, "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const replica = await startRedis();
    await replica.redis.replicaof("127.0.0.1", app.server().port);
    await until(() => storeFactor(queue, "a").then(Boolean, () => false));
  });

  it("stores a webhook request that waited until Redis had loaded", async () => {
    const { redis, stop, start } = app.server();
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

  it("reports each outage once", async () => {
    const proxy = closeLater(await startRedisProxy(app.server().port));
    const queues = [open({ connection: proxy.url }), open({ logger: undefined })];
    await Promise.all(queues.map((queue) => queue.ready()));
    const countReports = () => [logger.warn.mock.calls.length, warnings.list().length];
    for (const outage of [1, 2]) {
      await app.server().stop("SIGKILL");
      await until(() => countReports().every((count) => count === outage));
      await proxy.closes(3);
      await app.server().start();
      for (const queue of queues) await until(() => queue.stats().then(Boolean, () => false));
      await until(() => logger.info.mock.calls.length === outage);
    }
    expect(countReports()).toEqual([2, 2]);
    const words = expect.stringMatching(/^Redis cannot be used: /) as unknown;
    const warning = [words, { type: "PushWebhooksWarning", code: "REDIS_UNREACHABLE" }];
    expect(warnings.list()).toEqual([warning, warning]);
  });

  it("that an operator pauses and resumes logs each of them once", async () => {
    // The worker looks each 2 s.
    const timers = shorten("setInterval", 2_000);
    open().work(createHandlers().onAny(() => {}));
    const { redis, readInfo } = app.server();
    const untilLooks = async (count: number) => {
      const countLooks = () => readInfo("commandstats", "cmdstat_pttl:calls=");
      const before = await countLooks();
      await until(async () => (await countLooks()) >= before + count);
    };
    for (let round = 1; round <= 2; round++) {
      await redis.hset(META, "paused", 1);
      await untilLooks(5);
      await redis.hdel(META, "paused");
      await untilLooks(5);
    }
    timers.mockRestore();
    const lines = [...logger.warn.mock.calls, ...logger.info.mock.calls];
    const ofPause = lines.map(([, text]) => String(text)).filter((text) => text.includes("paused"));
    expect(ofPause).toHaveLength(4);
  });

  it("tells what an operator has set", async () => {
    const { redis } = app.server();
    const queue = open();
    const holds = { paused: "paused", concurrency: "limited", max: "limited" };
    for (const [field, hold] of Object.entries(holds)) {
      await redis.hset(META, field, 1);
      expect(await queue.stats()).toHaveProperty("hold", hold);
      await redis.hdel(META, field);
    }
    expect(await queue.stats()).not.toHaveProperty("hold");
    await redis.set(META.replace(/meta$/, "limiter"), 1, "PX", 60_000);
    expect(await queue.stats()).toHaveProperty("hold", "limited");
    app.leave("limiter");
  });

  it.each(["before", "at"])("that is stopped delays no end of a worker: %s it", async (when) => {
    const queue = open({ backoff: 600_000 });
    const worker = queue.work(createHandlers().onAny(() => Promise.reject(new Error("later"))));
    await storeFactor(queue, "a");
    await untilStats(queue, { delayed: 1 });
    // It cannot take itself off.
    app.leave("worker");
    const stopped = app.server().stop();
    if (when === "before") await stopped;
    await worker.close({ deadlineMs: 2 ** 31 - 1 });
    await stopped;
    await app.server().start();
  });

  it("is unhealthy within 30 s when the worker's connection is blocked", async () => {
    let passedMs = 0;
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      jest.spyOn(clock, "now").mockImplementation(() => now() + passedMs);
    }
    const proxy = closeLater(await startRedisProxy(app.server().port));
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
    // Without time it may not take its worker off.
    app.leave("worker");
    await queue.close({ deadlineMs: 0 });
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
  });

  const isShort = (reason: unknown) =>
    reason instanceof WebhookError &&
    reason.code === "STORE_UNAVAILABLE" &&
    /: Redis uses [89]\d % of its max/.test(String(reason.cause));
  const usedBytes = () => app.server().readInfo("memory", "used_memory:");
  const setLimit = (bytes: number) =>
    app.server().redis.config("SET", "maxmemory", String(Math.floor(bytes)));

  it("stores no event from 85 % of maxmemory on until workers have drained the queue", async () => {
    const queue = openHurried();
    const store = (uuid: string) => {
      const event = eventFixture("factor.created", {
        uuid,
        factor_friendly_name: "x".repeat(4_000),
      });
      return queue.store(queuedEvent(event), Infinity);
    };
    await setLimit((await usedBytes()) + 20_000_000);
    let stored = 0;
    let reason: unknown;
    const ended = testSignal();
    // One after the other: they fill less than 15 % of the memory between two readings. On a busy
    // machine a store may also exceed its time: then the same one again.
    while (!isShort(reason) && !ended.aborted) {
      reason = await store(`u${stored}`).catch((thrown: unknown) => thrown);
      if (reason === "new") stored++;
    }
    const words = expect.stringContaining("maxmemory");
    expect(logger.error.mock.calls).toEqual([[expect.anything(), words]]);

    let handled = 0;
    queue.work(createHandlers().onAny(() => void handled++));
    await until(() => handled >= stored);
    await until(() => store("after").then(Boolean, () => false));
    expect(logger.info).toHaveBeenCalledWith({}, expect.stringContaining("memory again"));
  });

  it("stores no event until it shows the end of a shortage", async () => {
    const queue = open({ storeTimeoutMs: 400 });
    await until(() => storeFactor(queue, "a").then(Boolean, () => false));
    const isRejected = () => storeFactor(queue, "a").then(() => false, isShort);
    await setLimit((await usedBytes()) / 0.9);
    await until(isRejected);
    // A shortage ends at 80 %. The memory is read each 250 ms.
    await setLimit((await usedBytes()) / 0.83);
    expect(await isRejected()).toBe(true);
    await app.server().redis.acl("SETUSER", "default", "-info");
    await setLimit(0);
    await until(isRejected);
    await app.server().redis.acl("SETUSER", "default", "+info");
    await until(() => storeFactor(queue, "a").then(Boolean, () => false));
  });

  it("that is full shows that workers take no events", async () => {
    const queue = open();
    queue.work(createHandlers().onAny(() => {}));
    await untilStats(queue, { workers: 1 });
    await app.passLeases();
    await setLimit(1_000_000);
    await untilStats(queue, { workers: 0 });
    const count = ({ mock }: jest.Mock, words: RegExp) =>
      mock.calls.filter(([, text]) => words.test(String(text))).length;
    const countFailures = () => count(logger.error, /worker.*OOM/);
    await until(() => countFailures() > 0);
    await setLimit(0);
    await untilStats(queue, { workers: 1 });
    // Each failure once, and its end.
    expect(count(logger.info, /worker takes events again/)).toBe(countFailures());
  });
});
