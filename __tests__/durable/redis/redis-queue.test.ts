import { Redis } from "ioredis";
import { redisQueue } from "express-push-verification/durable";
import { eventRequest } from "../../support/webhook-requests";
import { openReceiver, queuedParams } from "../../support/durable";
import { describeWithAnyRedis, until } from "../../support/redis";
import { startRedisProxy } from "../../support/redis-proxy";
import { useRedisReceiver } from "../../support/redis-receiver";

describeWithAnyRedis("redisQueue", () => {
  const app = useRedisReceiver();
  const { work, deliver } = app;

  it("stores an event before the response, and runs its handlers later", async () => {
    expect(await deliver()).toBe(200);
    expect([app.handled, await app.queue.stats()]).toEqual([
      [],
      {
        waiting: 1,
        active: 0,
        delayed: 0,
        deadLetters: 0,
        oldestWaitingMs: expect.any(Number),
        workers: 0,
      },
    ]);
    work();
    await until(() => app.handled.length === 1);
    expect(app.handled).toMatchObject([
      { event: { type: "challenge.approved", version: "v2" }, attempt: 1, authTokenIndex: 1 },
    ]);
    await until(async () => (await app.queue.stats()).active === 0);
    const empty = { waiting: 0, active: 0, delayed: 0, deadLetters: 0, oldestWaitingMs: 0 };
    expect(await app.queue.stats()).toMatchObject(empty);
  });

  it("leaves no personal data of a handled event, except in its outcome", async () => {
    work();
    await deliver();
    await until(() => app.handled.length === 1);
    await until(async () => (await app.queue.stats()).active === 0);
    const texts = await Promise.all(
      (await app.server.redis.keys(`${app.options.prefix}:*`)).map(async (key) => {
        const type = await app.server.redis.type(key);
        if (type === "hash") return JSON.stringify(await app.server.redis.hgetall(key));
        if (type === "stream") return JSON.stringify(await app.server.redis.xrange(key, "-", "+"));
        return type === "string" && !key.includes(":outcome:") ? app.server.redis.get(key) : "";
      }),
    );
    expect(texts.join()).not.toContain("user-7f3a-22");
  });

  it.each([
    "meta",
    "0",
    "1",
    "id",
    "wait",
    "a:b",
    "a:b:c",
    "{x}",
    "__proto__",
    " ",
    "ü 😀",
    "x".repeat(200),
    "../../etc",
  ])("handles a webhook request with the uuid %j once", async (uuid) => {
    work();
    const call = eventRequest("factor.created", { uuid });
    expect(await Promise.all([deliver(call), deliver(call), deliver(call)])).toEqual([
      200, 200, 200,
    ]);
    expect(await deliver(call)).toBe(200);
    await until(() => app.handled.length > 0);
    await until(async () => (await app.queue.stats()).active === 0);
    expect(app.handled.map(({ event }) => event.uuid)).toEqual([uuid]);
    expect(await deliver(call)).toBe(200);
    expect((await app.queue.stats()).waiting).toBe(0);
  });

  it("drops another request of the same uuid as a conflict", async () => {
    const store = (contentHash: string) =>
      app.queue.store(
        { ...queuedParams([["uuid", "same"]]), contentHash },
        Number.POSITIVE_INFINITY,
      );
    expect(await store("one")).toBe("new");
    expect(await store("one")).toBe("duplicate");
    expect(await store("two")).toBe("conflict");
    expect((await app.queue.stats()).waiting).toBe(1);
  });

  it("keeps a uuid for dedupeTtlMs", async () => {
    const short = redisQueue({ ...app.options, name: "short", dedupeTtlMs: 1_000 });
    await short.ready();
    const event = queuedParams([["uuid", "a"]]);
    const store = () => short.store(event, Number.POSITIVE_INFINITY);
    expect([await store(), await store()]).toEqual(["new", "duplicate"]);
    await until(async () => (await store()) === "new");
    await short.close();
  });

  it("counts workers, and how long the oldest event has waited", async () => {
    expect(await app.queue.stats()).toMatchObject({ oldestWaitingMs: 0, workers: 0 });
    await deliver(eventRequest("factor.created", { uuid: "first" }));
    await new Promise((later) => setTimeout(later, 300));
    await deliver(eventRequest("factor.created", { uuid: "second" }));
    const { oldestWaitingMs } = await app.queue.stats();
    expect(oldestWaitingMs).toBeGreaterThanOrEqual(300);
    expect(oldestWaitingMs).toBeLessThan(5_000);
    const other = redisQueue(app.options);
    const workers = [work(), other.work(app.receiver.push.handlers)];
    await until(async () => (await app.queue.stats()).workers === 2);
    for (const worker of workers) await worker.close();
    await other.close();
    expect(await app.queue.stats()).toMatchObject({ oldestWaitingMs: 0, workers: 0 });
  });

  it.each([
    ["a Redis", (url: string) => new Redis(url)],
    ["a Redis with lazyConnect", (url: string) => new Redis(url, { lazyConnect: true })],
  ])("duplicates %s that is given as connection, and leaves it open", async (_what, connect) => {
    const instance = connect(app.server.url);
    const own = redisQueue({ ...app.options, connection: instance });
    await own.ready();
    expect(await own.store(queuedParams([["uuid", "own"]]), Number.POSITIVE_INFINITY)).toBe("new");
    expect(await app.queue.stats()).toMatchObject({ waiting: 1 });
    await own.close();
    expect(await instance.ping()).toBe("PONG");
    instance.disconnect();
  });

  it("stores an event and its outcome in one round trip", async () => {
    const proxy = await startRedisProxy(Number(new URL(app.server.url).port));
    const slow = await openReceiver({ ...app.options, connection: proxy.url });
    await slow.queue.ready();
    // BullMQ sends its script once.
    await slow.deliver(eventRequest("challenge.approved", { uuid: "warm-up" }));
    await slow.deliver(eventRequest("challenge.approved", { uuid: "warm-up 2" }));
    proxy.delay(250);
    const startMs = performance.now();
    expect(await slow.deliver(eventRequest("challenge.approved", { uuid: "timed" }))).toBe(200);
    // A round trip takes 500 ms.
    expect(performance.now() - startMs).toBeLessThan(950);
    await slow.close();
    proxy.close();
  });

  it("passes events of unknown types to onUnhandled", async () => {
    const unknown: string[] = [];
    app.receiver.push.onUnhandled(({ type }) => void unknown.push(type));
    work();
    await deliver(eventRequest("factor.created", { type: "challenge.expired" }));
    await until(() => unknown.length === 1);
    expect(unknown).toEqual(["challenge.expired"]);
  });
});
