import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { pushWebhooks, type PushWebhooks } from "express-push-verification";
import {
  durableQueue,
  type DurableQueue,
  type DurableQueueOptions,
} from "express-push-verification/durable";
import { AUTH_TOKEN, eventCall, PUBLIC_URL } from "../support/calls";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../support/redis";
import { send, startServer, stopServers } from "../support/servers";

const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;

describeWithRedis("waitForChallenge between processes", () => {
  let server: RedisServer;
  let opened: { queue: DurableQueue; push: PushWebhooks }[];

  /** One process: its connections are its own. */
  async function open(options: Partial<DurableQueueOptions> = {}) {
    const queue = durableQueue({ connection: server.url, ...options });
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
    opened.push({ queue, push });
    if (options.connection === undefined) await queue.ready();
    const port = await startServer((req, res) => void push(req, res));
    const answer = async (sid: string, type: "challenge.approved" | "challenge.denied") => {
      const call = eventCall(type, { challenge_sid: sid, uuid: `${type} ${sid}` });
      expect((await send(port, call)).status).toBe(200);
    };
    return { queue, push, answer };
  }

  beforeEach(async () => {
    server = await startRedis();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ queue }) => queue.close({ deadlineMs: 200 })));
    await stopServers();
    await stopRedis();
  });

  it("resolves at one with what came at the other: before, and after", async () => {
    const [a, b] = [await open(), await open()];
    await b.answer(sidOf(1), "challenge.denied");
    const early = await a.push.waitForChallenge(sidOf(1), { timeoutMs: 5_000 });
    expect(early).toMatchObject({ type: "challenge.denied", challenge_sid: sidOf(1) });
    const waiting = a.push.waitForChallenge(sidOf(2), { timeoutMs: 5_000 });
    await new Promise((later) => setTimeout(later, 50));
    await b.answer(sidOf(2), "challenge.approved");
    expect(await waiting).toMatchObject({ type: "challenge.approved", version: "v2" });
  });

  it("keeps the first outcome, everywhere", async () => {
    const [a, b] = [await open(), await open()];
    await a.answer(sidOf(1), "challenge.approved");
    await b.answer(sidOf(1), "challenge.denied");
    for (const { push } of [a, b]) {
      expect(await push.waitForChallenge(sidOf(1))).toHaveProperty("type", "challenge.approved");
    }
  });

  it("loses none of 500 that arrive as somebody begins to wait", async () => {
    const [a, b] = [await open(), await open()];
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const pause = () => new Promise((later) => setTimeout(later, Math.random() * 6));
        const sid = sidOf(index);
        const answered = pause().then(() => b.answer(sid, "challenge.approved"));
        await pause();
        const outcome = await a.push.waitForChallenge(sid, { timeoutMs: 2_900 });
        await answered;
        return outcome.challenge_sid === sid;
      }),
    );
    expect(outcomes.every(Boolean)).toBe(true);
  }, 20_000);

  it("takes one more connection, whatever the number of those who wait", async () => {
    const a = await open();
    const count = async () =>
      Number((/^connected_clients:(\d+)/m.exec(await server.redis.info("clients")) ?? [])[1]);
    const before = await count();
    const stop = new AbortController();
    const waits = Array.from({ length: 300 }, (_, index) =>
      a.push.waitForChallenge(sidOf(index), { signal: stop.signal }).catch(() => "ended"),
    );
    const channels = async () => (await server.redis.pubsub("CHANNELS", "*")).length;
    await until(async () => (await channels()) === 300);
    expect((await count()) - before).toBe(1);
    stop.abort();
    await Promise.all(waits);
    // Nobody waits any more, so nobody listens.
    await until(async () => (await channels()) === 0);
  });

  it("is bounded, checked, and ends when the queue is closed", async () => {
    const { push, queue } = await open({ maxWaiting: 1 });
    const waiting = push.waitForChallenge(sidOf(1));
    await expect(push.waitForChallenge(sidOf(2))).rejects.toHaveProperty("code", "OVERLOADED");
    await expect(push.waitForChallenge("YC1")).rejects.toThrow(TypeError);
    const ended = expect(waiting).rejects.toHaveProperty("code", "CLOSING");
    await queue.close();
    await ended;
  });

  it("ends after its timeout", async () => {
    const { push } = await open();
    await expect(push.waitForChallenge(sidOf(1), { timeoutMs: 30 })).rejects.toHaveProperty(
      "code",
      "CHALLENGE_TIMEOUT",
    );
  });

  it("forgets an outcome after outcomeTtlMs", async () => {
    const { push, answer } = await open({ outcomeTtlMs: 1_000 });
    await answer(sidOf(1), "challenge.approved");
    await push.waitForChallenge(sidOf(1));
    await until(async () => (await server.redis.keys("*:outcome:*")).length === 0);
  });

  it("survives a restart of Redis", async () => {
    const [a, b] = [await open(), await open()];
    const waiting = a.push.waitForChallenge(sidOf(1), { timeoutMs: 20_000 });
    await new Promise((later) => setTimeout(later, 100));
    await server.stop("SIGKILL");
    await server.start();
    await b.answer(sidOf(1), "challenge.approved");
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
  }, 30_000);

  it("survives a connection that is dead without having been closed", async () => {
    const sockets = new Set<Socket>();
    let isHole = false;
    const proxy = createServer((client) => {
      const upstream = connect(server.port, "127.0.0.1");
      sockets.add(client.on("error", () => {})).add(upstream.on("error", () => {}));
      const swallows = () => isHole && sockets.has(client);
      client.on("data", (chunk) => void (swallows() || upstream.write(chunk)));
      upstream.on("data", (chunk) => void (swallows() || client.write(chunk)));
      client.on("close", () => upstream.destroy());
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const connection = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const [a, b] = [await open({ connection }), await open()];
    await a.queue.ready();
    const waiting = a.push.waitForChallenge(sidOf(1), { timeoutMs: 25_000 });
    await new Promise((later) => setTimeout(later, 200));
    isHole = true;
    await b.answer(sidOf(1), "challenge.approved");
    // New connections get through.
    await new Promise((later) => setTimeout(later, 500));
    sockets.clear();
    for (const index of [2, 3]) await b.answer(sidOf(index), "challenge.denied");
    isHole = false;
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
    await a.queue.close({ deadlineMs: 200 });
    proxy.close();
  }, 40_000);
});
