import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandlers, PermanentError } from "express-push-verification";
import {
  QueueError,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, queuedParams, silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { DURABLE, describeWithRedis, startRedis, type RedisServer } from "../../support/redis";
import { until } from "../../support/waiting";
import { startRedisProxy } from "../../support/redis-proxy";
import { useRedisQueues } from "../../support/redis-queues";

const store = (queue: DurableQueue) =>
  queue.store(queuedParams([["uuid", "a"]]), Number.POSITIVE_INFINITY);

describeWithRedis("ready()", () => {
  const { open: openQueue, closeLater } = useRedisQueues();
  let folder: string;
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "push-conf-"));
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (
    connection: RedisQueueOptions["connection"],
    options: Partial<RedisQueueOptions> = {},
  ) => openQueue(connection, { storeTimeoutMs: 1_000, logger, ...options });

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

  /** Does all that a queue does. */
  async function use(queue: DurableQueue): Promise<void> {
    const handlers = createHandlers().onAny(({ uuid }, { attempt }) => {
      if (uuid === "dead") throw new PermanentError("no");
      if (attempt === 1) throw new Error("again");
    });
    queue.work(handlers, { onError: () => {} });
    const event = eventFixture("challenge.approved", { uuid: "a" });
    const waiting = queue.outcomes.wait({
      account: "",
      challengeSid: event.challenge_sid,
      timeoutMs: 2_000,
    });
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    const dead = eventFixture("factor.created", { uuid: "dead" });
    await queue.store(queuedEvent(dead), Number.POSITIVE_INFINITY);
    await waiting;
    await until(async () => (await queue.find("a"))?.state === "handled", 5_000);
    await until(async () => (await queue.stats()).deadLetters === 1, 5_000);
    expect(await queue.retry("dead")).toBe(true);
    await until(async () => (await queue.stats()).deadLetters === 1, 5_000);
    expect(await queue.discard("dead")).toBe(true);
  }

  it.each([
    ["+@all ~* &*", "ready"],
    ["+@all -@dangerous +info +config|get ~push:* &push:*", "ready"],
    ["+@all -@scripting ~* &*", "eval"],
    ["+@all -evalsha ~* &*", "evalsha"],
    ["+@all ~other:* &*", "key"],
    ["+@all -@blocking ~* &*", "bzpopmin"],
    ["+@all ~*", "channel|publish"],
    ["+@all -subscribe ~* &*", "subscribe"],
    ["+@all -publish ~* &*", "publish"],
  ])("with the rights %s settles: %s", async (rights, result) => {
    const { url, redis } = await startRedis();
    const acl = rights.includes("&") ? rights : `resetchannels ${rights}`;
    await redis.acl("SETUSER", "app", "on", ">pw", ...acl.split(" "));
    const queue = open(url.replace("//", "//app:pw@"), { backoff: 20 });
    const settled = await settle(queue);
    if (result === "ready") return use(queue);
    expect(settled).toMatchObject({ code: "REDIS_REJECTED" });
    expect(String(settled)).toMatch(new RegExp(result, "i"));
    expect(String(settled)).toContain("~push:* &push:*");
  });

  it("resolves without a command only if the queue needs it for nothing", async () => {
    const { url, redis } = await startRedis();
    await redis.config("RESETSTAT");
    const options = { backoff: 20, logger: silent };
    await use(open(url, options));
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

  it.each(["provider", "warn", "trust", "require"] as const)(
    'settles with "%s" where CONFIG is never answered',
    async (durability) => {
      const { port } = await startRedis();
      const proxy = closeLater(await startRedisProxy(port));
      void proxy.drop("appendonly");
      const queue = open(proxy.url, { durability });
      const settled = await settle(queue);
      if (durability !== "require") return expect(settled).toBe("ready");
      expect(settled).toMatchObject({ code: "REDIS_NOT_DURABLE" });
    },
  );

  describe("with TLS", () => {
    async function startWithTls() {
      const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1";
      const words = `req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} -keyout ${key} -out ${cert}`;
      execFileSync("openssl", words.split(" "), { stdio: "ignore" });
      const port = await findFreePort();
      await startRedis({
        ...DURABLE,
        "tls-port": String(port),
        "tls-cert-file": cert,
        "tls-key-file": key,
        "tls-ca-cert-file": cert,
        "tls-auth-clients": "no",
      });
      return { port, ca: readFileSync(cert) };
    }

    it("rejects for a certificate that is not trusted, and for redis:// to a port with TLS", async () => {
      const { port, ca } = await startWithTls();
      for (const scheme of ["rediss", "redis"]) {
        const error = await settle(open(`${scheme}://127.0.0.1:${port}`));
        expect(error).toMatchObject({ code: "REDIS_REJECTED" });
        expect(String(error)).toContain("tls: { ca }");
      }
      const queue = open({ host: "127.0.0.1", port, tls: { ca } });
      expect(await settle(queue)).toBe("ready");
    });

    it("rejects for rediss:// to a port without TLS", async () => {
      const { url } = await startRedis();
      const error = await settle(open(url.replace("redis:", "rediss:")));
      expect(error).toMatchObject({ code: "REDIS_REJECTED" });
    });
  });

  it("rejects for a node of a cluster, and names the option", async () => {
    // The default is the port and 10,000, which another program may use.
    const busPort = String(await findFreePort());
    const cluster = { "cluster-enabled": "yes", "cluster-port": busPort };
    const { url } = await startRedis({ ...DURABLE, ...cluster });
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
