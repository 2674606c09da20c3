import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { PermanentError } from "express-push-verification";
import { ACCOUNT_SID, eventRequest } from "../../support/webhook-requests";
import { openReceiver } from "../../support/durable";
import { collect, describeWithAnyRedis, until } from "../../support/redis";
import { useRedisReceiver } from "../../support/redis-receiver";
import { openBullQueue, type BullQueue } from "../../../lib/durable/redis/bull-queue";
import { endConnection, openConnection } from "../../../lib/durable/redis/connection";
import { createRedisLetters, type RedisLetters } from "../../../lib/durable/redis/dead-letters";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";
import type { StoredEvent } from "../../../lib/durable/stored-event";

describeWithAnyRedis("dead letters", () => {
  const app = useRedisReceiver();
  const { work, deliver } = app;

  it("runs failing handlers again, and makes an event that exhausted its attempts a dead letter", async () => {
    app.fails = (_event, attempt) => (attempt < 3 ? new Error("not yet") : undefined);
    work();
    await deliver();
    await until(() => app.handled.length === 3);
    expect(app.handled.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);

    app.handled = [];
    app.fails = () => new Error("never");
    await deliver(eventRequest("challenge.denied", { uuid: "dead" }));
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    const letters = await collect(app.queue.deadLetters());
    expect(letters).toEqual([
      {
        uuid: "dead",
        accountSid: ACCOUNT_SID,
        event: expect.objectContaining({ type: "challenge.denied" }),
        error: "HANDLER_FAILED: never",
        attempts: 3,
        failedAt: expect.any(Date),
      },
    ]);
    expect(Date.now() - Number(letters[0]?.failedAt)).toBeLessThan(10_000);
  });

  it("makes an event a dead letter at once for a PermanentError", async () => {
    app.fails = () => new PermanentError("no such user");
    work();
    await deliver();
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    expect(app.handled.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it("runs the handlers of one dead letter or of all again, with all attempts", async () => {
    app.fails = () => new PermanentError("down");
    work();
    for (const uuid of ["a", "b", "c"]) await deliver(eventRequest("factor.created", { uuid }));
    await until(async () => (await app.queue.stats()).deadLetters === 3);
    app.fails = (_event, attempt) => (attempt < 3 ? new Error("again") : undefined);
    app.handled = [];
    expect([
      await app.queue.retry("b"),
      await app.queue.retry("b"),
      await app.queue.retry("x"),
    ]).toEqual([true, false, false]);
    await until(() => app.handled.length === 3);
    expect(app.handled.map(({ event, attempt }) => [event.uuid, attempt])).toEqual([
      ["b", 1],
      ["b", 2],
      ["b", 3],
    ]);
    expect(await app.queue.retryAll()).toBe(2);
    await until(() => app.handled.length === 9);
    await until(async () => (await app.queue.stats()).delayed === 0);
    expect((await app.queue.stats()).deadLetters).toBe(0);
  });

  it("counts each dead letter once when several processes retry them at a time", async () => {
    app.fails = () => new PermanentError("down");
    const worker = work();
    const uuids = Array.from({ length: 20 }, (_, index) => `u${index}`);
    for (const uuid of uuids) await deliver(eventRequest("factor.created", { uuid }));
    await until(async () => (await app.queue.stats()).deadLetters === 20);
    await worker.close();
    const counts = await Promise.all([
      app.queue.retryAll(),
      app.queue.retryAll(),
      app.queue.retryAll(),
    ]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
    expect(await app.queue.stats()).toMatchObject({ waiting: 20, deadLetters: 0 });

    work();
    await until(async () => (await app.queue.stats()).deadLetters === 20);
    const both = await Promise.all([app.queue.retry("u2"), app.queue.retry("u2")]);
    expect(both.toSorted()).toEqual([false, true]);
  });

  it("discards a dead letter and keeps its uuid: a replay is a duplicate", async () => {
    app.fails = () => new PermanentError("poison");
    work();
    const call = eventRequest("factor.created", { uuid: "poison" });
    await deliver(call);
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    expect([await app.queue.discard("poison"), await app.queue.discard("poison")]).toEqual([
      true,
      false,
    ]);
    expect(await collect(app.queue.deadLetters())).toEqual([]);
    expect(await deliver(call)).toBe(200);
    expect(await app.queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 0 });
    expect(app.handled).toHaveLength(1);
  });

  it("discards each dead letter once when several processes discard it at a time", async () => {
    app.fails = () => new PermanentError("poison");
    work();
    await deliver(eventRequest("factor.created", { uuid: "poison" }));
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    const both = await Promise.all([app.queue.discard("poison"), app.queue.discard("poison")]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await app.server.redis.keys(`${app.options.prefix}:q:*-*-*`)).toEqual([]);
  });

  describe("that another process retries meanwhile", () => {
    let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
    let redis: Redis;
    let bull: BullQueue;
    let letters: RedisLetters;
    let letter: Job<StoredEvent>;
    beforeEach(async () => {
      app.fails = () => new PermanentError("down");
      const worker = work();
      await deliver(eventRequest("factor.created", { uuid: "kept" }));
      await until(async () => (await app.queue.stats()).deadLetters === 1);
      await worker.close();
      app.fails = () => undefined;
      app.handled = [];
      logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
      const settings = { ...resolveRedisOptions({ ...app.options, logger }), maxDeadLetters: 0 };
      redis = openConnection(settings, "store");
      await until(() => redis.status === "ready");
      bull = openBullQueue(redis, settings);
      await bull.ready();
      letters = createRedisLetters(bull, redis, settings);
      const [letterId = ""] = await letters.listIds();
      letter = (await bull.current().getJob(letterId)) as Job<StoredEvent>;
      // The other process retries when this one has read the letter.
      const current = bull.current();
      const getJob = current.getJob.bind(current);
      jest.spyOn(current, "getJob").mockImplementation(async (jobId) => {
        const job = await getJob(jobId);
        expect(await app.queue.retry("kept")).toBe(true);
        return job;
      });
    });
    afterEach(() => {
      bull.close();
      endConnection(redis);
    });

    it.each([
      ["discarded", async () => expect(await letters.discard("kept")).toBe(false)],
      ["trimmed", () => letters.add(letter)],
    ])("are not %s: the handlers run", async (_what, remove) => {
      await remove();
      expect(await app.queue.stats()).toMatchObject({ waiting: 1, deadLetters: 0 });
      expect(logger.error).not.toHaveBeenCalled();
      work();
      await until(() => app.handled.length === 1);
      expect(app.handled[0]?.event.uuid).toBe("kept");
    });
  });

  it("keeps the uuid of a newer event when it discards an older dead letter of it", async () => {
    app.fails = () => new PermanentError("down");
    const worker = work();
    await deliver(eventRequest("factor.created", { uuid: "again" }));
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    await worker.close();
    const [key = ""] = await app.server.redis.keys(`${app.options.prefix}:q:de:*`);
    await app.server.redis.set(key, "newer");
    expect(await app.queue.discard("again")).toBe(true);
    expect(await app.server.redis.get(key)).toBe("newer");
  });

  it("lists dead letters that this version cannot read", async () => {
    app.fails = () => new PermanentError("x");
    work();
    await deliver(eventRequest("factor.created", { uuid: "odd" }));
    await until(async () => (await app.queue.stats()).deadLetters === 1);
    const keys = await app.server.redis.keys(`${app.options.prefix}:q:*-*-*`);
    const key = keys.find((name) => !name.includes(":de:")) ?? "";
    await app.server.redis.hset(key, "data", JSON.stringify({ params: [["uuid", "odd"]] }));
    expect(await collect(app.queue.deadLetters())).toMatchObject([
      { uuid: "odd", event: undefined },
    ]);
  });

  it("keeps maxDeadLetters of them, discards the oldest and logs each", async () => {
    const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    const bounded = await openReceiver({ ...app.options, attempts: 1, maxDeadLetters: 3, logger });
    bounded.push.onAny(() => {
      throw new PermanentError("no");
    });
    bounded.queue.work(bounded.push.handlers, { concurrency: 1, onError: () => {} });
    const calls = ["a", "b", "c", "d", "e"].map((uuid) => eventRequest("factor.created", { uuid }));
    for (const call of calls) await bounded.deliver(call);
    const discarded = () =>
      logger.error.mock.calls
        .filter(([, text]) => String(text).includes("discarded"))
        .map(([fields]) => fields);
    await until(() => discarded().length === 2);
    expect((await collect(bounded.queue.deadLetters())).map(({ uuid }) => uuid)).toEqual([
      "c",
      "d",
      "e",
    ]);
    expect(discarded()).toMatchObject([
      { uuid: "a", error: "HANDLER_FAILED: no" },
      { uuid: "b", error: "HANDLER_FAILED: no" },
    ]);
    // Their uuids stay known: a replay is a duplicate.
    for (const call of calls) expect(await bounded.deliver(call)).toBe(200);
    expect(await bounded.queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 3 });
    await bounded.close();
  });

  it("finds the dead letter of a uuid without reading the others", async () => {
    app.fails = () => new PermanentError("down");
    const worker = work();
    for (let index = 0; index < 30; index++) {
      await deliver(eventRequest("factor.created", { uuid: `u${index}` }));
    }
    await until(async () => (await app.queue.stats()).deadLetters === 30);
    await worker.close();
    const reads = async () => {
      const stats = await app.server.redis.info("commandstats");
      return Number((/^cmdstat_hgetall:calls=(\d+)/m.exec(stats) ?? [])[1] ?? 0);
    };
    const before = await reads();
    expect([await app.queue.retry("u7"), await app.queue.discard("u8")]).toEqual([true, true]);
    expect((await reads()) - before).toBeLessThan(10);
  });

  it("is not blocked by events that fail", async () => {
    app.fails = ({ entity_identity }) =>
      entity_identity === "poison" ? new Error("no") : undefined;
    app.queue.work(app.receiver.push.handlers, { concurrency: 2 });
    for (let count = 0; count < 10; count++) {
      await deliver(
        eventRequest("factor.created", { uuid: `p${count}`, entity_identity: "poison" }),
      );
      await deliver(eventRequest("factor.created", { uuid: `g${count}` }));
    }
    await until(() => app.handled.filter(({ event }) => event.uuid.startsWith("g")).length === 10);
    await until(async () => (await app.queue.stats()).deadLetters === 10);
  });
});
