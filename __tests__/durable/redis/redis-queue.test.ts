import { Redis } from "ioredis";
import {
  pushWebhooks,
  type PushEventType,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { closeLater, entityIdentity, storeFactor, untilStats } from "../../support/durable";
import { startRedis, type RedisServer } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import {
  ACCOUNT_SID,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
} from "../../support/webhook-requests";

describeRedisQueues("redisQueue", () => {
  let server: RedisServer;
  let queue: DurableQueue;

  beforeEach(async () => {
    server = await startRedis();
    queue = openRedisQueue(server.url);
  });

  const receive = (options: Omit<PushWebhooksOptions, "publicUrl">) =>
    closeLater(pushWebhooks({ publicUrl: PUBLIC_URL, queue, ...options }));
  /** Delivers the outcome of a challenge; all have the same uuid. */
  async function respond(
    push: PushWebhooks,
    authToken: string,
    type: PushEventType,
    account_sid = ACCOUNT_SID,
  ): Promise<void> {
    const names = { challenge_sid: CHALLENGE_SID, uuid: "same", account_sid };
    const request = toWebRequest(eventRequest(type, names, { authToken }));
    expect((await push.fetch(request)).status).toBe(200);
  }
  const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 5_000 };

  it("leaves no personal data of a handled event, except in its outcome", async () => {
    const { redis } = server;
    await redis.config("SET", "rdbcompression", "no");
    const push = receive({ authToken: "token" });
    await respond(push, "token", "challenge.approved");
    const listTexts = async () => {
      const keys = (await redis.keys("*")).filter((key) => !key.includes(":outcome:"));
      return Promise.all(keys.map((key) => redis.call("DUMP", key)));
    };
    expect((await listTexts()).join()).toContain(entityIdentity);
    queue.work(push.onAny(() => {}).handlers);
    await untilStats(queue, { waiting: 0, active: 0 });
    expect((await listTexts()).join()).not.toContain(entityIdentity);
  });

  it.each([
    ["a Redis", (url: string) => new Redis(url)],
    ["a Redis with lazyConnect", (url: string) => new Redis(url, { lazyConnect: true })],
  ])("duplicates %s that is given as connection, and leaves it open", async (_what, connect) => {
    const instance = connect(server.url);
    const own = openRedisQueue(instance);
    await own.ready();
    expect(await storeFactor(own, "own")).toBe("new");
    expect(await queue.stats()).toMatchObject({ waiting: 1 });
    await own.close();
    expect(await instance.ping()).toBe("PONG");
    instance.disconnect();
  });

  it("separates the accounts of a receiver whose authToken is a function", async () => {
    const push = receive({ authToken: ({ account_sid = "" }) => `token of ${account_sid}` });
    const waiting = push.waitForChallenge({ ...wait, accountSid: ACCOUNT_SID });
    const other = `AC${"b".repeat(32)}`;
    await respond(push, `token of ${other}`, "challenge.approved", other);
    await respond(push, `token of ${ACCOUNT_SID}`, "challenge.denied");
    expect(await waiting).toMatchObject({ type: "challenge.denied", account_sid: ACCOUNT_SID });
    expect(await queue.stats()).toMatchObject({ waiting: 2 });
  });

  it("separates receivers with static tokens, though each signer may claim any account", async () => {
    const one = receive({ authToken: "token-one", name: "one" });
    for (const other of [
      { authToken: "two" },
      { authToken: ["token-one", "two"] },
      { authToken: () => "token-one" },
      { authToken: "token-one", allowedAccountSids: [ACCOUNT_SID] },
    ]) {
      const create = () => receive({ name: "one", ...other });
      expect(create).toThrow(/"one" and has another authToken/);
    }
    const two = receive({ authToken: "token-two", name: "two" });
    const waiting = one.waitForChallenge(wait);
    await respond(two, "token-two", "challenge.approved");
    await respond(one, "token-one", "challenge.denied");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
    expect(await two.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
    // Closing one receiver leaves the waits of the other alone.
    await two.close();
    await expect(two.waitForChallenge(wait)).rejects.toHaveProperty("code", "CLOSING");
    expect(await one.waitForChallenge(wait)).toHaveProperty("type", "challenge.denied");
  });
});
