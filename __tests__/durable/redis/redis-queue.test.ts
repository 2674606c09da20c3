import { Redis } from "ioredis";
import { pushWebhooks } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { entityIdentity, queuedParams } from "../../support/durable";
import { describeWithRedis } from "../../support/redis";
import { until } from "../../support/waiting";
import { useRedisReceiver } from "../../support/redis-receiver";
import {
  ACCOUNT_SID,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
} from "../../support/webhook-requests";

describeWithRedis("redisQueue", () => {
  const app = useRedisReceiver();
  const { work, deliver } = app;

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

  it("separates the accounts of a receiver whose authToken is a function", async () => {
    const authToken = ({ account_sid = "" }) => `token of ${account_sid}`;
    const push = pushWebhooks({ publicUrl: PUBLIC_URL, queue: app.queue, name: "f", authToken });
    const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 5_000 };
    const waiting = push.waitForChallenge({ ...wait, accountSid: ACCOUNT_SID });
    for (const [account_sid, type] of [
      [`AC${"b".repeat(32)}`, "challenge.approved"],
      [ACCOUNT_SID, "challenge.denied"],
    ] as const) {
      const names = { challenge_sid: CHALLENGE_SID, uuid: "same", account_sid };
      const request = eventRequest(type, names, { authToken: authToken(names) });
      expect((await push.fetch(toWebRequest(request))).status).toBe(200);
    }
    expect(await waiting).toMatchObject({ type: "challenge.denied", account_sid: ACCOUNT_SID });
    expect(await app.queue.stats()).toMatchObject({ waiting: 2 });
    await push.close();
  });

  it("separates receivers with static tokens, though each signer may claim any account", async () => {
    const options = { publicUrl: PUBLIC_URL, queue: app.queue };
    const one = pushWebhooks({ ...options, authToken: "token-one", name: "one" });
    for (const other of [
      { authToken: "two" },
      { authToken: ["token-one", "two"] },
      { authToken: () => "token-one" },
      { authToken: "token-one", allowedAccountSids: [ACCOUNT_SID] },
    ]) {
      const create = () => pushWebhooks({ ...options, name: "one", ...other });
      expect(create).toThrow(/"one" and has another authToken/);
    }
    const two = pushWebhooks({ ...options, authToken: "token-two", name: "two" });
    const names = { challenge_sid: CHALLENGE_SID, uuid: "same" };
    const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 5_000 };
    const waiting = one.waitForChallenge(wait);
    for (const [push, authToken, type] of [
      [two, "token-two", "challenge.approved"],
      [one, "token-one", "challenge.denied"],
    ] as const) {
      const { status } = await push.fetch(toWebRequest(eventRequest(type, names, { authToken })));
      expect(status).toBe(200);
    }
    expect(await waiting).toHaveProperty("type", "challenge.denied");
    expect(await two.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
    // Closing one receiver leaves the waits of the other alone.
    await two.close();
    await expect(two.waitForChallenge(wait)).rejects.toHaveProperty("code", "CLOSING");
    expect(await one.waitForChallenge(wait)).toHaveProperty("type", "challenge.denied");
    await one.close();
  });
});
