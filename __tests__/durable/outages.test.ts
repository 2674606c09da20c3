import { inspect } from "node:util";
import { pushWebhooks, type PushWebhooks } from "express-push-verification";
import type { DurableQueue, DurableQueueOptions } from "express-push-verification/durable";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { DURABLE, describeWithRedis, startRedis, until, type RedisServer } from "../support/redis";
import { useRedisQueues } from "../support/redis-queues";
import { send, startServer, stopServers } from "../support/servers";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeWithRedis("while Redis", () => {
  let server: RedisServer;
  let queue: DurableQueue;
  let push: PushWebhooks;
  let handled: string[];
  let port: number;

  afterEach(stopServers);
  const { open } = useRedisQueues();

  async function receive(options: Partial<DurableQueueOptions> = {}): Promise<void> {
    queue = open(server.url, options);
    push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
    push.onRejected(() => {});
    handled = [];
    push.onAny(({ uuid }) => void handled.push(uuid));
    queue.work(push.handlers);
    port = await startServer((req, res) => void push(req, res));
  }
  beforeEach(async () => {
    server = await startRedis();
  });

  let count = 0;
  const deliver = async () =>
    (await send(port, eventRequest("factor.created", { uuid: `u${count++}` }))).status;

  it("is down and the queue is closed, ready() rejects with CLOSING", async () => {
    await server.stop();
    await receive();
    const ready = queue.ready();
    await queue.close({ deadlineMs: 50 });
    await expect(ready).rejects.toMatchObject({ code: "CLOSING", status: 503 });
  });

  it("is down at the start, a webhook request waits and is stored once it is up", async () => {
    await server.stop();
    await receive();
    const answered = deliver();
    await later(600);
    await server.start();
    const upMs = performance.now();
    expect(await answered).toBe(200);
    expect(performance.now() - upMs).toBeLessThan(4_000);
    await queue.ready();
    await until(() => handled.length === 1);
  });

  it("stays down, a webhook request gets 503 after storeTimeoutMs", async () => {
    await server.stop();
    await receive({ storeTimeoutMs: 400 });
    const startMs = performance.now();
    const answer = await send(port, eventRequest("factor.created"));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "restarts after %s, no webhook request fails and no event is lost",
    async (signal) => {
      await receive();
      await queue.ready();
      expect(await deliver()).toBe(200);
      const answers: Promise<number>[] = [];
      const stopped = server
        .stop(signal)
        .then(() => later(1_000))
        .then(() => server.start());
      for (let sent = 0; sent < 60; sent++) {
        answers.push(deliver());
        await later(20);
      }
      await stopped;
      expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
      await until(() => new Set(handled).size === 61, 20_000);
    },
    40_000,
  );

  it("is frozen, webhook requests wait and are stored once it thaws", async () => {
    await receive();
    await queue.ready();
    server.freeze();
    const answers = Array.from({ length: 20 }, deliver);
    await later(2_500);
    server.thaw();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    await until(() => new Set(handled).size === 20, 20_000);
    expect(handled).toHaveLength(20);
  }, 40_000);

  it("stays frozen, a webhook request gets 503 in time", async () => {
    await receive({ storeTimeoutMs: 2_000 });
    await queue.ready();
    server.freeze();
    const startMs = performance.now();
    expect(await deliver()).toBe(503);
    // The default is 8 s.
    expect(performance.now() - startMs).toBeLessThan(7_000);
  }, 20_000);

  it("is out of memory, a webhook request does not get 200", async () => {
    await receive({ storeTimeoutMs: 300 });
    await queue.ready();
    await server.redis.config("SET", "maxmemory", "1mb");
    expect(await deliver()).toBe(503);
    await server.redis.config("SET", "maxmemory", "0");
    await until(async () => (await deliver()) === 200);
  });

  it("replies with an error, the reported error holds no parameter of the event", async () => {
    await receive({ storeTimeoutMs: 300 });
    await queue.ready();
    const reported: unknown[] = [];
    push.onRejected((...report) => void reported.push(report));
    await server.redis.config("SET", "maxmemory", "1mb");
    const call = eventRequest("challenge.approved", {
      entity_identity: "hush-identity",
      factor_metadata: '{"a":"hush-metadata"}',
    });
    expect(await send(port, call)).toHaveProperty("status", 503);
    await server.redis.config("SET", "maxmemory", "0");
    const text = inspect(reported, { depth: 10, showHidden: true });
    expect(text).toContain("STORE_UNAVAILABLE");
    expect(text).toContain("maxmemory");
    expect(text).not.toMatch(/hush|args/);
  });

  it("is read-only, a webhook request does not get 200", async () => {
    await receive({ storeTimeoutMs: 300 });
    await queue.ready();
    await server.redis.replicaof("127.0.0.1", "1");
    expect(await deliver()).toBe(503);
    await server.redis.replicaof("NO", "ONE");
    await until(async () => (await deliver()) === 200);
  }, 20_000);

  it("is still loading, a webhook request waits until it has loaded", async () => {
    await Promise.all(Array.from({ length: 30 }, (_, key) => server.redis.set(`k${key}`, "x")));
    await receive();
    await queue.ready();
    await server.stop();
    await server.start({ ...DURABLE, "key-load-delay": "50000" });
    expect(await deliver()).toBe(200);
    await until(() => handled.length === 1);
  }, 30_000);

  it("is down, at most maxPending webhook requests wait", async () => {
    await server.stop();
    await receive({ storeTimeoutMs: 4_000, maxPending: 5 });
    const startMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const status = await deliver();
        return [status, performance.now() - startMs] as const;
      }),
    );
    expect(answers.every(([status]) => status === 503)).toBe(true);
    expect(answers.filter(([, ms]) => ms < 3_000).length).toBeGreaterThanOrEqual(5);
  });

  it("is down and the logger of the app throws, the process lives", async () => {
    const broken = () => {
      throw new Error("the logger is broken");
    };
    const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    await receive({ logger: { debug: broken, info: broken, warn: broken, error: broken } });
    await queue.ready();
    await server.stop();
    await until(() => warnings.mock.calls.length > 0);
    await server.start();
    expect(await deliver()).toBe(200);
    await until(() => handled.length === 1);
    expect(warnings.mock.calls).toContainEqual([
      expect.any(String),
      expect.objectContaining({ code: "LISTENER_FAILED" }),
    ]);
    warnings.mockRestore();
  });

  it("is down, the queue closes within its deadline", async () => {
    await receive();
    await queue.ready();
    await server.stop();
    const startMs = performance.now();
    await queue.close({ deadlineMs: 300 });
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});
