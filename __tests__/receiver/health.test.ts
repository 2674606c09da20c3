import { createMemoryDedupe, pushWebhooks, type DedupeStore } from "express-push-verification";
import { silent } from "../support/receivers";
import { until } from "../support/redis";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../support/webhook-requests";

function receive(dedupe: DedupeStore) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    dedupe,
    logger: silent,
  });
  const send = async (uuid: string) => {
    return (await push.fetch(toWebRequest(eventRequest("factor.created", { uuid })))).status;
  };
  return { push, send };
}

it("is degraded from the first failed claim of the dedupe store until one succeeds", async () => {
  const memory = createMemoryDedupe();
  let isDown = false;
  const { push, send } = receive({
    ...memory,
    claim(claim) {
      if (isDown) throw Object.assign(new Error("connect ECONNREFUSED"), { args: ["secret"] });
      return memory.claim(claim);
    },
  });
  expect(await push.health()).toEqual({ status: "healthy" });
  isDown = true;
  const [beganAtMs, held] = [Date.now(), send("a")];
  await until(async () => (await push.health()).status !== "healthy");
  const { since, ...health } = await push.health();
  expect(health).toEqual({
    status: "degraded",
    code: "STORE_UNAVAILABLE",
    reason: "connect ECONNREFUSED",
  });
  expect(Number(since)).toBeGreaterThanOrEqual(beganAtMs);
  isDown = false;
  expect(await held).toBe(200);
  expect(await push.health()).toEqual({ status: "healthy" });
});

it("is healthy while another process has claimed the uuid", async () => {
  const memory = createMemoryDedupe();
  let claims = 0;
  const { push, send } = receive({
    ...memory,
    claim: (claim) => (claims++ === 0 ? "running" : memory.claim(claim)),
  });
  expect(await send("a")).toBe(200);
  expect([claims, await push.health()]).toEqual([2, { status: "healthy" }]);
});

it("is unhealthy once it closes", async () => {
  const { push } = receive(createMemoryDedupe());
  await push.close();
  expect(await push.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
});
