import { Worker } from "bullmq";
import { createHandlers } from "express-push-verification";
import { Redis } from "ioredis";
import { eventFixture } from "express-push-verification/testing";
import { STALLED } from "../../../lib/durable/lease";
import { toNewEvent } from "../../../lib/durable/stored-event";
import {
  QUEUE_NAME,
  closeLater,
  entityIdentity,
  queuedEvent,
  receiveInto,
  sidOf,
  storeFactor,
  untilStats,
  type DurableReceiver,
} from "../../support/durable";
import { describeOnRedis } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { createGate, shorten, until } from "../../support/waiting";
import { ACCOUNT_SID, AUTH_TOKEN, eventPairs, eventRequest } from "../../support/webhook-requests";

const DAY_MS = 86_400_000;

function withOutcomes(receiver: DurableReceiver, authToken = AUTH_TOKEN) {
  return {
    ...receiver,
    wait: (index: number, timeoutMs = 60_000) =>
      receiver.push.waitForChallenge({ challengeSid: sidOf(index), entityIdentity, timeoutMs }),
    async respond(
      index: number,
      type = "approved" as "approved" | "denied",
      uuid = `${type}-${index}`,
    ) {
      const names = { challenge_sid: sidOf(index), uuid };
      const request = eventRequest(`challenge.${type}`, names, { authToken });
      expect(await receiver.deliver(request)).toBe(200);
    },
  };
}

describeOnRedis("its own promises", (app) => {
  /** One process: its connections are its own. */
  const open = async (options?: Parameters<typeof app.open>[0]) =>
    withOutcomes(await receiveInto(app.open(options)));
  const isListening = () =>
    until(async () => (await app.server().redis.pubsub("CHANNELS", "*")).length === 1);
  const outcomeKeys = () => app.server().redis.keys("*:outcome:*");

  it("leaves no personal data of a handled event, except in its outcome", async () => {
    const { redis } = app.server();
    await redis.config("SET", "rdbcompression", "no");
    const { respond, push, queue } = await open();
    await respond(1);
    const listTexts = async () => {
      const keys = (await redis.keys("*")).filter((key) => !key.includes(":outcome:"));
      return Promise.all(keys.map((key) => redis.call("DUMP", key)));
    };
    expect((await listTexts()).join()).toContain(entityIdentity);
    queue.work(push.onAny(() => {}).handlers);
    await untilStats(queue, { waiting: 0, active: 0 });
    expect((await listTexts()).join()).not.toContain(entityIdentity);
  });

  it.each(["processedOn", "dueAtMs"])(
    "counts an event of long ago that waits again as waiting since its %s",
    async (name) => {
      const { redis } = app.server();
      const queue = app.open();
      await storeFactor(queue, "a");
      const [id = ""] = await redis.lrange(`push:${QUEUE_NAME}:wait`, 0, 0);
      const job = `push:${QUEUE_NAME}:${id}`;
      await redis.hset(job, "timestamp", 1);
      expect((await queue.stats()).oldestWaitingMs).toBeGreaterThan(DAY_MS);
      const data = JSON.parse((await redis.hget(job, "data")) ?? "") as object;
      const text = JSON.stringify({ ...data, dueAtMs: Date.now() });
      await redis.hset(job, name === "dueAtMs" ? { data: text } : { processedOn: Date.now() });
      expect((await queue.stats()).oldestWaitingMs).toBeLessThan(DAY_MS);
    },
  );

  it("makes an event a dead letter only after 21 processes died in its handlers", async () => {
    const { redis } = app.server();
    const queue = app.open();
    for (const [uuid, starts, failures] of [
      ["dead", 26, 5],
      ["alive", 25, 5],
    ] as const) {
      await storeFactor(queue, uuid);
      const [id = ""] = await redis.lrange(`push:${QUEUE_NAME}:wait`, 0, 0);
      await redis.hset(`push:${QUEUE_NAME}:${id}`, { ats: starts, atm: failures });
    }
    const handled: string[] = [];
    queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
    await untilStats(queue, { waiting: 0, active: 0, deadLetters: 1 });
    expect(handled).toEqual(["alive"]);
    const failures = [{ error: STALLED }];
    expect(await queue.find("dead")).toMatchObject({ state: "dead", failures });
    expect(await queue.retry("dead")).toBe(true);
    await until(() => handled.length === 2);
  });

  it("duplicates a Redis that is given as connection", async () => {
    const instance = new Redis(app.server().url, { lazyConnect: true });
    const own = app.open({ connection: instance });
    expect(await storeFactor(own, "own")).toBe("new");
    expect(instance.status).toBe("wait");
    expect(await own.names?.()).toEqual([QUEUE_NAME]);
    expect(await app.open().stats()).toMatchObject({ waiting: 1 });
    await own.close();
    expect(await instance.ping()).toBe("PONG");
    instance.disconnect();
  });

  it("separates receivers with static tokens, though each signer may claim any account", async () => {
    const queue = app.open();
    const receive = (name: string, authToken: string) =>
      receiveInto(queue, { name, authToken }).then((one) => withOutcomes(one, authToken));
    const one = await receive("one", "token-one");
    for (const other of [
      { authToken: "two" },
      { authToken: ["token-one", "two"] },
      { authToken: () => "token-one" },
      { authToken: "token-one", allowedAccountSids: [ACCOUNT_SID] },
    ]) {
      const another = receiveInto(queue, { name: "one", ...other });
      await expect(another).rejects.toThrow(/"one" and has another authToken/);
    }
    const two = await receive("two", "token-two");
    const waiting = one.wait(1);
    await two.respond(1, "approved", "same");
    await one.respond(1, "denied", "same");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
    expect(await two.wait(1)).toHaveProperty("type", "challenge.approved");
    // Closing one receiver leaves the waits of the other alone.
    await two.push.close();
    await expect(two.wait(1)).rejects.toHaveProperty("code", "CLOSING");
    expect(await one.wait(1)).toHaveProperty("type", "challenge.denied");
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
    const [a, b] = [await open(), await open({ connection: `${app.server().url}/1` })];
    const waiting = a.wait(1);
    await isListening();
    await b.respond(1);
    await a.respond(1, "denied");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("ends neither the process nor a wait for a value that is unreadable", async () => {
    const { redis } = app.server();
    const receiver = await open();
    await receiver.respond(1, "denied");
    const [key = ""] = await outcomeKeys();
    const outcome = (await redis.get(key)) ?? "";
    const channel = `push:${QUEUE_NAME}:outcomes`;
    await redis.set(key, "{", "KEEPTTL");
    const waiting = receiver.wait(1);
    await redis.publish(channel, "\u0000{ no outcome");
    const factor = JSON.stringify(eventPairs("factor.created"));
    for (const value of ["null", "5", "[1]", '[["type",5]]', "[]", factor, outcome]) {
      await redis.set(key, value, "KEEPTTL");
      await redis.publish(channel, key.replace(/.*:/, ""));
    }
    expect(await waiting).toHaveProperty("type", "challenge.denied");
  });

  it("resolves when its connections are dead without having been closed", async () => {
    const proxy = closeLater(await startRedisProxy(app.server().port));
    const [a, b] = [await open({ connection: proxy.url }), await open()];
    const waiting = a.wait(1);
    await isListening();
    proxy.swallow();
    await b.respond(1);
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
  });

  it("pings both of its connections while they are idle", async () => {
    const timers = shorten("setInterval", 2_000);
    const queue = app.open();
    timers.mockRestore();
    await queue.ready();
    const pinging = /name=push-webhooks-(store|subscriber) .* cmd=ping /g;
    await until(async () => {
      const list = String(await app.server().redis.client("LIST"));
      return list.match(pinging)?.length === 2;
    });
  });

  it("keeps a uuid from the last attempt to store it", async () => {
    const { redis } = app.server();
    const storage = await app.openStorage();
    const event = queuedEvent(eventFixture("factor.created"));
    const added = [toNewEvent(QUEUE_NAME, event, undefined)];
    await storage.store(added);
    await app.passTime(500_000);
    await storage.store(added);
    const [key = ""] = await redis.keys("*:uuid:*");
    expect(await redis.pttl(key)).toBeGreaterThan(DAY_MS - 60_000);
  });

  it("finds the event of a killed process within 6 s", async () => {
    const { redis } = app.server();
    const queue = app.open();
    const { opened, open: finish } = createGate();
    const run = jest.spyOn(Worker.prototype, "run");
    queue.work(createHandlers().onAny(() => opened));
    await storeFactor(queue, "a");
    await untilStats(queue, { active: 1 });
    // A lock is renewed each second; after an outage, the worker looks for events within 0.5 s.
    const options = { lockRenewTime: 1_000, runRetryDelay: 500 };
    expect(run.mock.contexts).toMatchObject([{ opts: options }]);
    run.mockRestore();
    for (const [key, longestMs] of [
      ["*:lock", 4_000],
      ["stalled-check", 500],
      ["workers", 10_000],
    ] as const) {
      let leftMs = 0;
      await until(async () => {
        const [found = ""] = await redis.keys(`push:${QUEUE_NAME}:${key}`);
        leftMs = await redis.pttl(found);
        return leftMs > 0;
      });
      expect(leftMs).toBeLessThanOrEqual(longestMs);
    }
    finish();
  });

  it("listens again when the connection that listens has ended alone", async () => {
    await app.open().ready();
    await isListening();
    await app.server().redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    await isListening();
  });

  // The simulation has lost replies of the other engines.
  it.each([
    ["an event", "approved-1"],
    ["an outcome", ":outcome:"],
  ])("stores, records and handles once when the reply to %s is lost", async (_what, text) => {
    const proxy = closeLater(await startRedisProxy(app.server().port));
    const [web, other] = [await open({ connection: proxy.url }), await open()];
    const handled: string[] = [];
    other.push.onAny(({ uuid }, { attempt }) => void handled.push(`${uuid} ${attempt}`));
    // Loads the scripts of BullMQ into Redis, so that the next store takes a single command.
    await web.respond(2);
    const lost = proxy.loseReplyTo(text);
    const waiting = other.wait(1);
    await web.respond(1);
    await lost;
    expect(await waiting).toHaveProperty("type", "challenge.approved");
    expect(await other.queue.stats()).toMatchObject({ waiting: 2 });
    await web.respond(1);
    other.queue.work(other.push.handlers, { concurrency: 1 });
    await untilStats(other.queue, { waiting: 0, active: 0 });
    expect(handled).toEqual(["approved-2 1", "approved-1 1"]);
  });
});
