import { Queue } from "bullmq";
import { PermanentError } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import {
  entityIdentity,
  QUEUE_NAME,
  queuedEvent,
  receiveInto,
  untilStats,
  type DurableReceiver,
} from "../../support/durable";
import { describeOnRedis } from "../../support/redis-engine";
import { collect, until } from "../../support/waiting";
import { ACCOUNT_SID, eventRequest } from "../../support/webhook-requests";

const HEAD = `push:${QUEUE_NAME}`;
const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const letterOf = (body: string) => JSON.stringify({ body, errors: "[]" });

describeOnRedis("dead letters in Redis", (app) => {
  let receiver: DurableReceiver;
  let handled: string[];
  const work = () => receiver.queue.work(receiver.push.handlers);
  const deliver = (uuid: string) => receiver.deliver(eventRequest("factor.created", { uuid }));

  beforeEach(async () => {
    handled = [];
    receiver = await receiveInto(app.open({ attempts: 3, backoff: 20 }));
    receiver.push.onAny(({ uuid }) => {
      if (uuid.startsWith("dead")) throw new PermanentError("down");
      handled.push(uuid);
    });
    await receiver.queue.ready();
  });

  async function makeDead(...uuids: string[]): Promise<void> {
    const worker = work();
    for (const uuid of uuids) await deliver(uuid);
    await untilStats(receiver.queue, { deadLetters: uuids.length });
    await worker.close();
  }

  it.each([
    ["no JSON", "{"],
    ["nested 100,000 deep", `${'{"body":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["an event nested 100,000 deep", letterOf(DEEP)],
    ["a time beyond dates", letterOf("{}"), "+inf"],
  ])("that are %s can be listed and retried", async (_what, text, time = "1") => {
    const { queue } = receiver;
    await makeDead("dead");
    const odd = "0".repeat(32) + "-" + "0".repeat(32);
    await app.server().redis.zadd(`${HEAD}:dead`, time, odd);
    await app.server().redis.hset(`${HEAD}:dead:events`, odd, text);
    const listed = await collect(queue.deadLetters());
    expect(listed.map(({ event }) => event?.uuid).toSorted()).toEqual(["dead", undefined]);
    expect(listed.map(({ failedAt }) => Number(failedAt)).some(Number.isNaN)).toBe(false);
    expect(await queue.stats()).toMatchObject({ deadLetters: 2 });
    expect(await queue.retryAll()).toBe(2);
    work();
    await untilStats(queue, { deadLetters: 2 });
    expect(await queue.find("dead")).toMatchObject({ state: "dead" });
  });

  it("are retried beside those of other programs, whose identifiers BullMQ rejects", async () => {
    const { redis } = app.server();
    await makeDead("dead");
    for (const id of ["1", "a:b", "odd", ""]) {
      await redis.zadd(`${HEAD}:dead`, "1", id);
      await redis.hset(`${HEAD}:dead:events`, id, letterOf("{}"));
    }
    expect(await receiver.queue.retryAll()).toBe(1);
    expect(await receiver.queue.stats()).toMatchObject({ waiting: 1, deadLetters: 4 });
  });

  it("are no unreadable job of another program, which keeps no event from a worker", async () => {
    const { redis } = app.server();
    await deliver("bad");
    const [key = ""] = await redis.keys(`${HEAD}:uuid:*`);
    const [id = ""] = await redis.hvals(key);
    await redis.hset(`${HEAD}:${id}`, "data", "{");
    work();
    await deliver("good");
    await until(() => handled.length === 1);
  });

  it("stay when they fail again while they are retried", async () => {
    const { redis } = app.server();
    const { queue } = receiver;
    await makeDead("dead");
    const [id = ""] = await redis.zrange(`${HEAD}:dead`, "0", "0");
    const failedAtMs = Date.now() + 3_600_000;
    await redis.zadd(`${HEAD}:dead`, String(failedAtMs), id);
    const readTime = async () => Number(await redis.zscore(`${HEAD}:dead`, id));
    const { add } = Queue.prototype;
    jest.spyOn(Queue.prototype, "add").mockImplementationOnce(async function (
      this: Queue,
      ...args
    ) {
      const job = await add.apply(this, args);
      work();
      await until(async () => (await readTime()) !== failedAtMs);
      return job;
    });
    expect(await queue.retry("dead")).toBe(false);
    expect(await readTime()).toBe(failedAtMs + 1);
    expect(await queue.stats()).toMatchObject({ deadLetters: 1 });
  });

  it("are grouped also where there are more than a read has", async () => {
    const commands = app.server().redis.pipeline();
    for (let index = 0; index < 1_001; index++) {
      commands.zadd(`${HEAD}:dead`, String(index), String(index));
      commands.hset(
        `${HEAD}:dead:failures`,
        String(index),
        JSON.stringify(['"no"', `p${index % 7}`]),
      );
    }
    await commands.exec();
    const group = { error: "no", count: 1_001, users: 7, firstAtMs: 0, lastAtMs: 1_000 };
    expect(await receiver.queue.deadGroups()).toEqual([group]);
  });

  it("and events of a queue whose name is a pattern are erased with their user", async () => {
    const queue = app.open({ name: "[a]*?\\" });
    const event = eventFixture("factor.created");
    const user = { accountSid: event.account_sid, entityIdentity: event.entity_identity };
    await queue.store(queuedEvent(event), Infinity);
    expect(await queue.eraseUserData(user)).toMatchObject({ waiting: 1 });
  });

  it("are removed entirely when they are retried, discarded or erased", async () => {
    const { redis } = app.server();
    await makeDead("dead a", "dead b", "dead c");
    expect(await receiver.queue.retry("dead a")).toBe(true);
    expect(await receiver.queue.discard("dead b")).toBe(true);
    const countKept = () =>
      Promise.all([
        redis.zcard(`${HEAD}:dead`),
        redis.hlen(`${HEAD}:dead:events`),
        redis.hlen(`${HEAD}:dead:failures`),
      ]);
    expect(await countKept()).toEqual([1, 1, 1]);
    await receiver.queue.eraseUserData({ accountSid: ACCOUNT_SID, entityIdentity });
    expect(await countKept()).toEqual([0, 0, 0]);
  });
});
