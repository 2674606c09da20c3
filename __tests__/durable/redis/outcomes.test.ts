import type { PushEventType } from "express-push-verification";
import type { RedisQueueOptions } from "express-push-verification/durable";
import {
  closeLater,
  entityIdentity,
  QUEUE_NAME,
  receiveInto,
  sidOf,
  type DurableReceiver,
} from "../../support/durable";
import { startRedis, type RedisServer } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { until } from "../../support/waiting";
import { eventPairs, eventRequest } from "../../support/webhook-requests";

describeRedisQueues("waitForChallenge between processes", () => {
  let server: RedisServer;

  /** One process: its connections are its own. */
  async function open({ connection = server.url, ...options }: Partial<RedisQueueOptions> = {}) {
    const receiver = await receiveInto(openRedisQueue(connection, options));
    await receiver.queue.ready();
    return receiver;
  }
  const wait = ({ push }: DurableReceiver, index: number, timeoutMs = 5_000) =>
    push.waitForChallenge({ challengeSid: sidOf(index), entityIdentity, timeoutMs });
  async function respond(
    receiver: DurableReceiver,
    index: number,
    type: PushEventType = "challenge.approved",
  ): Promise<void> {
    const request = eventRequest(type, { challenge_sid: sidOf(index), uuid: `${type}-${index}` });
    expect(await receiver.deliver(request)).toBe(200);
  }
  const isListening = () =>
    until(async () => (await server.redis.pubsub("CHANNELS", "*")).length === 1);
  const outcomeKeys = () => server.redis.keys("*:outcome:*");

  beforeEach(async () => {
    server = await startRedis();
  });

  it("opens no connection for a wait", async () => {
    const a = await open();
    const count = async () =>
      Number((/^connected_clients:(\d+)/m.exec(await server.redis.info("clients")) ?? [])[1]);
    const before = await count();
    const waits = Array.from({ length: 300 }, (_, index) => wait(a, index));
    await respond(await open(), 0);
    await waits[0];
    expect((await count()) - before).toBe(2);
    for (let index = 1; index < 300; index += 50) await respond(a, index);
    await a.queue.close();
    await Promise.allSettled(waits);
  });

  it("keeps an outcome for outcomeTtlMs", async () => {
    const receiver = await open({ dedupeTtlMs: 1_000, outcomeTtlMs: 1_000 });
    await respond(receiver, 1);
    await wait(receiver, 1);
    await until(async () => (await outcomeKeys()).length === 0);
  });

  it("records no outcome of a conflict that arrives at the same time", async () => {
    const [a, b] = [await open(), await open()];
    const pairs = Array.from({ length: 20 }, (_, pair) => {
      const requestOf = (index: number) =>
        eventRequest("challenge.approved", { uuid: `u${pair}`, challenge_sid: sidOf(index) });
      return [a.deliver(requestOf(2 * pair)), b.deliver(requestOf(2 * pair + 1))];
    });
    await Promise.all(pairs.flat());
    expect(await outcomeKeys()).toHaveLength(20);
  });

  it("resolves by the outcomes of its own database only", async () => {
    const [a, b] = [await open(), await open({ connection: `${server.url}/1` })];
    const waiting = wait(a, 1);
    await isListening();
    await respond(b, 1);
    await respond(a, 1, "challenge.denied");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("ends neither the process nor a wait for a value that is unreadable", async () => {
    const receiver = await open();
    await respond(receiver, 1, "challenge.denied");
    const [key = ""] = await outcomeKeys();
    const outcome = await server.redis.get(key);
    const channel = `push:${QUEUE_NAME}:outcomes`;
    const publish = async (value: string) => {
      await server.redis.set(key, value);
      await server.redis.publish(channel, key.replace(/.*:/, ""));
    };
    await server.redis.set(key, "{");
    const waiting = wait(receiver, 1);
    await server.redis.publish(channel, "\u0000{ no outcome");
    const factor = JSON.stringify(eventPairs("factor.created"));
    for (const value of ["null", "5", "[1]", '[["type",5]]', "[]", factor]) await publish(value);
    await publish(outcome ?? "");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("resolves when its connections are dead without having been closed", async () => {
    const proxy = closeLater(await startRedisProxy(server.port));
    const [a, b] = [await open({ connection: proxy.url }), await open()];
    const waiting = wait(a, 1, 25_000);
    await isListening();
    proxy.swallow();
    await respond(b, 1);
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
  });
});
