import { Redis } from "ioredis";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { closeLater, entityIdentity, storeFactor, untilStats } from "../../support/durable";
import { describeRedisQueues } from "../../support/redis-engine";
import {
  ACCOUNT_SID,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
} from "../../support/webhook-requests";

describeRedisQueues("redisQueue", (app) => {
  let queue: DurableQueue;

  beforeEach(() => {
    queue = app.open();
  });

  /** Opens a receiver; `respond` delivers the outcome of a challenge, and all have the same uuid. */
  function receive(options: Omit<PushWebhooksOptions, "publicUrl">) {
    const push = closeLater(pushWebhooks({ publicUrl: PUBLIC_URL, queue, ...options }));
    return Object.assign(push, {
      async respond(authToken: string, type: "approved" | "denied", account_sid = ACCOUNT_SID) {
        const names = { challenge_sid: CHALLENGE_SID, uuid: "same", account_sid };
        const request = eventRequest(`challenge.${type}`, names, { authToken });
        expect((await push.fetch(toWebRequest(request))).status).toBe(200);
      },
    });
  }
  const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 5_000 };

  it("leaves no personal data of a handled event, except in its outcome", async () => {
    const { redis } = app.server;
    await redis.config("SET", "rdbcompression", "no");
    const push = receive({ authToken: "token" });
    await push.respond("token", "approved");
    const listTexts = async () => {
      const keys = (await redis.keys("*")).filter((key) => !key.includes(":outcome:"));
      return Promise.all(keys.map((key) => redis.call("DUMP", key)));
    };
    expect((await listTexts()).join()).toContain(entityIdentity);
    queue.work(push.onAny(() => {}).handlers);
    await untilStats(queue, { waiting: 0, active: 0 });
    expect((await listTexts()).join()).not.toContain(entityIdentity);
  });

  it("duplicates a Redis, also with lazyConnect, that is given as connection, and leaves it open", async () => {
    const instance = new Redis(app.server.url, { lazyConnect: true });
    const own = app.open({ connection: instance });
    await own.ready();
    expect(instance.status).toBe("wait");
    expect(await storeFactor(own, "own")).toBe("new");
    expect(await queue.stats()).toMatchObject({ waiting: 1 });
    await own.close();
    expect(await instance.ping()).toBe("PONG");
    instance.disconnect();
  });

  it("separates receivers with static tokens, though each signer may claim any account", async () => {
    const one = receive({ authToken: "token-one", name: "one" });
    for (const other of [
      { authToken: "two" },
      { authToken: ["token-one", "two"] },
      { authToken: () => "token-one" },
      { authToken: "token-one", allowedAccountSids: [ACCOUNT_SID] },
    ]) {
      expect(() => receive({ name: "one", ...other })).toThrow(/"one" and has another authToken/);
    }
    const two = receive({ authToken: "token-two", name: "two" });
    const waiting = one.waitForChallenge(wait);
    await two.respond("token-two", "approved");
    await one.respond("token-one", "denied");
    expect(await waiting).toHaveProperty("type", "challenge.denied");
    expect(await two.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
    // Closing one receiver leaves the waits of the other alone.
    await two.close();
    await expect(two.waitForChallenge(wait)).rejects.toHaveProperty("code", "CLOSING");
    expect(await one.waitForChallenge(wait)).toHaveProperty("type", "challenge.denied");
  });
});
