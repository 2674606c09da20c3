import {
  QUEUE_NAME,
  closeLater,
  entityIdentity,
  receiveInto,
  sidOf,
  untilStats,
} from "../../support/durable";
import { describeRedisQueues } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { until } from "../../support/waiting";
import { eventPairs, eventRequest } from "../../support/webhook-requests";

describeRedisQueues("waitForChallenge between processes", (app) => {
  /** One process: its connections are its own. */
  async function open(options?: Parameters<typeof app.open>[0]) {
    const { queue, push, deliver } = await receiveInto(app.open(options));
    await queue.ready();
    return {
      queue,
      push,
      deliver,
      wait: (index: number, timeoutMs = 5_000) =>
        push.waitForChallenge({ challengeSid: sidOf(index), entityIdentity, timeoutMs }),
      async respond(index: number, type = "approved" as "approved" | "denied") {
        const names = { challenge_sid: sidOf(index), uuid: `${type}-${index}` };
        expect(await deliver(eventRequest(`challenge.${type}`, names))).toBe(200);
      },
    };
  }
  const isListening = () =>
    until(async () => (await app.server.redis.pubsub("CHANNELS", "*")).length === 1);
  const outcomeKeys = () => app.server.redis.keys("*:outcome:*");

  it("keeps an outcome for outcomeTtlMs", async () => {
    const receiver = await open({ dedupeTtlMs: 1_000, outcomeTtlMs: 1_000 });
    await receiver.respond(1);
    await receiver.wait(1);
    await until(async () => (await outcomeKeys()).length === 0);
  });

  it("records no outcome of a conflict that arrives at the same time", async () => {
    const [a, b] = [await open(), await open()];
    const sent = Array.from({ length: 40 }, (_, index) => {
      const names = { uuid: `u${index >> 1}`, challenge_sid: sidOf(index) };
      return (index % 2 === 0 ? a : b).deliver(eventRequest("challenge.approved", names));
    });
    await Promise.all(sent);
    expect(await outcomeKeys()).toHaveLength(20);
  });

  it("resolves by the outcomes of its own database only", async () => {
    const [a, b] = [await open(), await open({ connection: `${app.server.url}/1` })];
    const waiting = a.wait(1);
    await isListening();
    await b.respond(1);
    await a.respond(1, "denied");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("ends neither the process nor a wait for a value that is unreadable", async () => {
    const { redis } = app.server;
    const receiver = await open();
    await receiver.respond(1, "denied");
    const [key = ""] = await outcomeKeys();
    const outcome = (await redis.get(key)) ?? "";
    const channel = `push:${QUEUE_NAME}:outcomes`;
    await redis.set(key, "{");
    const waiting = receiver.wait(1);
    await redis.publish(channel, "\u0000{ no outcome");
    const factor = JSON.stringify(eventPairs("factor.created"));
    for (const value of ["null", "5", "[1]", '[["type",5]]', "[]", factor, outcome]) {
      await redis.set(key, value);
      await redis.publish(channel, key.replace(/.*:/, ""));
    }
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("resolves when its connections are dead without having been closed", async () => {
    const proxy = closeLater(await startRedisProxy(app.server.port));
    const [a, b] = [await open({ connection: proxy.url }), await open()];
    const waiting = a.wait(1, 25_000);
    await isListening();
    proxy.swallow();
    await b.respond(1);
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
  });

  // The simulation has lost replies of the other engines.
  it.each([
    ["an event", "approved-1"],
    ["an outcome", ":outcome:"],
  ])("stores, records and handles once when the reply to %s is lost", async (_what, text) => {
    const proxy = closeLater(await startRedisProxy(app.server.port));
    const [web, other] = [await open({ connection: proxy.url }), await open()];
    const handled: string[] = [];
    other.push.onAny(({ uuid }, { attempt }) => void handled.push(`${uuid} ${attempt}`));
    // Loads the scripts of BullMQ into Redis, so that the next store takes a single command.
    await web.respond(2);
    const lost = proxy.loseReplyTo(text);
    const waiting = other.wait(1, 15_000);
    await web.respond(1);
    await lost;
    expect(await waiting).toHaveProperty("uuid", "approved-1");
    expect(await other.queue.stats()).toMatchObject({ waiting: 2 });
    await web.respond(1);
    other.queue.work(other.push.handlers, { concurrency: 1 });
    await untilStats(other.queue, { waiting: 0, active: 0 });
    expect(handled).toEqual(["approved-2 1", "approved-1 1"]);
  });
});
