import { eventRequest } from "../../support/webhook-requests";
import { entityIdentity, openReceiver, sidOf, type DurableReceiver } from "../../support/durable";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../../support/redis";
import { stopServers } from "../../support/servers";

const approval = (index: number) =>
  eventRequest("challenge.approved", { challenge_sid: sidOf(index), uuid: `uuid-${index}` });

describeWithRedis("between storing an event and recording its outcome,", () => {
  let server: RedisServer;
  let other: DurableReceiver;
  let handled: [uuid: string, attempt: number][];
  const opened: { close(): unknown }[] = [];

  async function open(connection: string, storeTimeoutMs?: number): Promise<DurableReceiver> {
    const receiver = await openReceiver({
      connection,
      durability: "trust",
      backoff: 20,
      ...(storeTimeoutMs !== undefined && { storeTimeoutMs }),
    });
    opened.push(receiver);
    receiver.push.onAny(({ uuid }, { attempt }) => void handled.push([uuid, attempt]));
    await receiver.queue.ready();
    return receiver;
  }
  const wait = (index: number) =>
    other.push.waitForChallenge({ challengeSid: sidOf(index), entityIdentity, timeoutMs: 15_000 });
  const work = ({ queue, push }: DurableReceiver) => queue.work(push.handlers);
  const findJobKey = async () => {
    const keys = await server.redis.keys("push:*:*-*-*");
    return keys.find((key) => !key.includes(":de:")) ?? "";
  };
  const outcomeKeys = () => server.redis.keys("*:outcome:*");

  /** Makes EVAL fail: it records outcomes, and BullMQ uses EVALSHA once Redis has its scripts. */
  async function denyEval(): Promise<string> {
    const warmUp = work(other);
    await other.deliver(eventRequest("factor.created"));
    await until(() => handled.length === 1);
    await warmUp.close();
    handled.length = 0;
    await server.redis.acl("SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-eval");
    return server.url.replace("//", "//app:pw@");
  }

  beforeEach(async () => {
    server = await startRedis();
    handled = [];
    other = await open(server.url);
  });
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
    await stopServers();
    await stopRedis();
  });

  it("a process that ends leaves both to the worker, and the retry of the sender is a duplicate", async () => {
    const web = await open(await denyEval(), 300);
    const waiting = wait(1);
    expect(await web.deliver(approval(1))).toBe(503);
    expect(await web.deliver(approval(1))).toBe(200);
    await web.close();
    expect(await other.queue.stats()).toMatchObject({ waiting: 1 });
    expect(await outcomeKeys()).toEqual([]);

    work(other);
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
    await until(() => handled.length === 1);
  }, 30_000);

  it("a worker that cannot record yet retries that without using up an attempt", async () => {
    const app = await denyEval();
    const web = await open(app, 300);
    expect(await web.deliver(approval(1))).toBe(503);
    const waiting = wait(1);
    work(await open(app));
    await until(async () => (await other.queue.stats()).active === 1);
    await new Promise((later) => setTimeout(later, 300));
    expect(handled).toEqual([]);
    await server.redis.acl("SETUSER", "app", "+eval");
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
    await until(() => handled.length === 1);
    expect(handled).toEqual([["uuid-1", 1]]);
  }, 30_000);

  it("an outcome that a worker records ends when that of the receiver would have", async () => {
    const web = await open(await denyEval(), 300);
    expect(await web.deliver(approval(1))).toBe(503);
    const key = await findJobKey();
    const hourAgo = Date.now() - 3_600_000;
    await server.redis.hset(key, "timestamp", hourAgo);
    work(other);
    await until(() => handled.length === 1);
    const [outcome = ""] = await outcomeKeys();
    const left = hourAgo + 86_400_000 - Date.now();
    expect(Math.abs((await server.redis.pttl(outcome)) - left)).toBeLessThan(5_000);
  }, 30_000);

  it("no worker records the outcome of an event that is older than outcomeTtlMs", async () => {
    const web = await open(await denyEval(), 300);
    expect(await web.deliver(approval(1))).toBe(503);
    const key = await findJobKey();
    await server.redis.hset(key, "timestamp", Date.now() - 86_400_001);
    work(other);
    await until(() => handled.length === 1);
    expect(await outcomeKeys()).toEqual([]);
  }, 30_000);
});
