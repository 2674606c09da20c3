import type { Redis } from "ioredis";
import { PermanentError, type PushEvent } from "express-push-verification";
import type { DurableQueue, DurableQueueOptions } from "express-push-verification/durable";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest } from "../../support/webhook-requests";
import { openReceiver, type DurableReceiver } from "../../support/durable";
import {
  collect,
  describeWithAnyRedis,
  stopRedis,
  until,
  useRedis,
  type RedisServer,
} from "../../support/redis";
import { stopServers } from "../../support/servers";
import { openBullQueue, type BullQueue } from "../../../lib/durable/redis/bull-queue";
import { endConnection, openConnection } from "../../../lib/durable/redis/connection";
import { createDeadLetters, type DeadLetters } from "../../../lib/durable/redis/dead-letters";
import { resolveDurableOptions } from "../../../lib/durable/redis/options";

describeWithAnyRedis("dead letters", () => {
  let server: Pick<RedisServer, "url" | "redis">;
  let options: DurableQueueOptions;
  let receiver: DurableReceiver;
  let queue: DurableQueue;
  let handled: { event: PushEvent; attempt: number; authTokenIndex: number }[];
  let fails: (event: PushEvent, attempt: number) => unknown;

  beforeAll(async () => {
    server = await useRedis();
  });
  afterAll(stopRedis);
  beforeEach(async () => {
    // A Redis that others use is neither emptied nor asked for its configuration.
    const prefix = `push-test-${crypto.randomUUID()}`;
    options = { name: "q", connection: server.url, prefix, durability: "trust" };
    handled = [];
    fails = () => undefined;
    receiver = await openReceiver(
      { ...options, backoff: 20, attempts: 3 },
      { authToken: ["next", AUTH_TOKEN] },
    );
    queue = receiver.queue;
    receiver.push.onAny((any, { attempt, authTokenIndex }) => {
      const event = any as PushEvent;
      handled.push({ event, attempt, authTokenIndex });
      const failure = fails(event, attempt);
      if (failure !== undefined) throw failure;
    });
    await queue.ready();
  });
  afterEach(async () => {
    await receiver.close();
    await stopServers();
    const keys = await server.redis.keys(`${options.prefix}:*`);
    if (keys.length > 0) await server.redis.del(keys);
  });

  const work = () => queue.work(receiver.push.handlers);
  const deliver = (call = eventRequest("challenge.approved")) => receiver.deliver(call);

  it("runs failing handlers again, and makes an event that exhausted its attempts a dead letter", async () => {
    fails = (_event, attempt) => (attempt < 3 ? new Error("not yet") : undefined);
    work();
    await deliver();
    await until(() => handled.length === 3);
    expect(handled.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);

    handled = [];
    fails = () => new Error("never");
    await deliver(eventRequest("challenge.denied", { uuid: "dead" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    const letters = await collect(queue.deadLetters());
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
    fails = () => new PermanentError("no such user");
    work();
    await deliver();
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect(handled.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it("runs the handlers of one dead letter or of all again, with all attempts", async () => {
    fails = () => new PermanentError("down");
    work();
    for (const uuid of ["a", "b", "c"]) await deliver(eventRequest("factor.created", { uuid }));
    await until(async () => (await queue.stats()).deadLetters === 3);
    fails = (_event, attempt) => (attempt < 3 ? new Error("again") : undefined);
    handled = [];
    expect([await queue.retry("b"), await queue.retry("b"), await queue.retry("x")]).toEqual([
      true,
      false,
      false,
    ]);
    await until(() => handled.length === 3);
    expect(handled.map(({ event, attempt }) => [event.uuid, attempt])).toEqual([
      ["b", 1],
      ["b", 2],
      ["b", 3],
    ]);
    expect(await queue.retryAll()).toBe(2);
    await until(() => handled.length === 9);
    await until(async () => (await queue.stats()).delayed === 0);
    expect((await queue.stats()).deadLetters).toBe(0);
  });

  it("counts each dead letter once when several processes retry them at a time", async () => {
    fails = () => new PermanentError("down");
    const worker = work();
    const uuids = Array.from({ length: 20 }, (_, index) => `u${index}`);
    for (const uuid of uuids) await deliver(eventRequest("factor.created", { uuid }));
    await until(async () => (await queue.stats()).deadLetters === 20);
    await worker.close();
    const counts = await Promise.all([queue.retryAll(), queue.retryAll(), queue.retryAll()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
    expect(await queue.stats()).toMatchObject({ waiting: 20, deadLetters: 0 });

    work();
    await until(async () => (await queue.stats()).deadLetters === 20);
    const both = await Promise.all([queue.retry("u2"), queue.retry("u2")]);
    expect(both.toSorted()).toEqual([false, true]);
  });

  it("discards a dead letter and keeps its uuid: a replay is a duplicate", async () => {
    fails = () => new PermanentError("poison");
    work();
    const call = eventRequest("factor.created", { uuid: "poison" });
    await deliver(call);
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect([await queue.discard("poison"), await queue.discard("poison")]).toEqual([true, false]);
    expect(await collect(queue.deadLetters())).toEqual([]);
    expect(await deliver(call)).toBe(200);
    expect(await queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 0 });
    expect(handled).toHaveLength(1);
  });

  it("discards each dead letter once when several processes discard it at a time", async () => {
    fails = () => new PermanentError("poison");
    work();
    await deliver(eventRequest("factor.created", { uuid: "poison" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    const both = await Promise.all([queue.discard("poison"), queue.discard("poison")]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await server.redis.keys(`${options.prefix}:q:*-*-*`)).toEqual([]);
  });

  describe("that another process retries meanwhile", () => {
    let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
    let redis: Redis;
    let bull: BullQueue;
    let letters: DeadLetters;
    beforeEach(async () => {
      fails = () => new PermanentError("down");
      const worker = work();
      await deliver(eventRequest("factor.created", { uuid: "kept" }));
      await until(async () => (await queue.stats()).deadLetters === 1);
      await worker.close();
      fails = () => undefined;
      handled = [];
      logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
      const settings = { ...resolveDurableOptions({ ...options, logger }), maxDeadLetters: 0 };
      redis = openConnection(settings, "store");
      await until(() => redis.status === "ready");
      bull = openBullQueue(redis, settings);
      await bull.ready();
      letters = createDeadLetters(bull, redis, settings);
      // The other process retries when this one has read the letter.
      const current = bull.current();
      const getJob = current.getJob.bind(current);
      jest.spyOn(current, "getJob").mockImplementation(async (jobId) => {
        const job = await getJob(jobId);
        expect(await queue.retry("kept")).toBe(true);
        return job;
      });
    });
    afterEach(() => {
      bull.close();
      endConnection(redis);
    });

    it.each([
      ["discarded", async () => expect(await letters.discard("kept")).toBe(false)],
      ["trimmed", () => letters.trim()],
    ])("are not %s: the handlers run", async (_what, remove) => {
      await remove();
      expect(await queue.stats()).toMatchObject({ waiting: 1, deadLetters: 0 });
      expect(logger.error).not.toHaveBeenCalled();
      work();
      await until(() => handled.length === 1);
      expect(handled[0]?.event.uuid).toBe("kept");
    });
  });

  it("keeps the uuid of a newer event when it discards an older dead letter of it", async () => {
    fails = () => new PermanentError("down");
    const worker = work();
    await deliver(eventRequest("factor.created", { uuid: "again" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    await worker.close();
    const [key = ""] = await server.redis.keys(`${options.prefix}:q:de:*`);
    await server.redis.set(key, "newer");
    expect(await queue.discard("again")).toBe(true);
    expect(await server.redis.get(key)).toBe("newer");
  });

  it("lists dead letters that this version cannot read", async () => {
    fails = () => new PermanentError("x");
    work();
    await deliver(eventRequest("factor.created", { uuid: "odd" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    const keys = await server.redis.keys(`${options.prefix}:q:*-*-*`);
    const key = keys.find((name) => !name.includes(":de:")) ?? "";
    await server.redis.hset(key, "data", JSON.stringify({ params: [["uuid", "odd"]] }));
    expect(await collect(queue.deadLetters())).toMatchObject([{ uuid: "odd", event: undefined }]);
  });

  it("keeps maxDeadLetters of them, discards the oldest and logs each", async () => {
    const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    const bounded = await openReceiver({ ...options, attempts: 1, maxDeadLetters: 3, logger });
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
    fails = () => new PermanentError("down");
    const worker = work();
    for (let index = 0; index < 30; index++) {
      await deliver(eventRequest("factor.created", { uuid: `u${index}` }));
    }
    await until(async () => (await queue.stats()).deadLetters === 30);
    await worker.close();
    const reads = async () => {
      const stats = await server.redis.info("commandstats");
      return Number((/^cmdstat_hgetall:calls=(\d+)/m.exec(stats) ?? [])[1] ?? 0);
    };
    const before = await reads();
    expect([await queue.retry("u7"), await queue.discard("u8")]).toEqual([true, true]);
    expect((await reads()) - before).toBeLessThan(10);
  });

  it("is not blocked by events that fail", async () => {
    fails = ({ entity_identity }) => (entity_identity === "poison" ? new Error("no") : undefined);
    queue.work(receiver.push.handlers, { concurrency: 2 });
    for (let count = 0; count < 10; count++) {
      await deliver(
        eventRequest("factor.created", { uuid: `p${count}`, entity_identity: "poison" }),
      );
      await deliver(eventRequest("factor.created", { uuid: `g${count}` }));
    }
    await until(() => handled.filter(({ event }) => event.uuid.startsWith("g")).length === 10);
    await until(async () => (await queue.stats()).deadLetters === 10);
  });
});
