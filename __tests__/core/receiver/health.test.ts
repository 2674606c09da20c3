import { createMemoryDedupe, type DedupeStore } from "express-push-verification";
import { createReceiver } from "../../support/receivers";
import { until } from "../../support/waiting";
import { eventRequest } from "../../support/webhook-requests";

const memory = createMemoryDedupe();

it("is degraded from the first failed claim of the dedupe store until one succeeds", async () => {
  let isDown = false;
  const dedupe: DedupeStore = {
    ...memory,
    claim(claim) {
      if (isDown) throw Object.assign(new Error("connect ECONNREFUSED"), { args: ["secret"] });
      return memory.claim(claim);
    },
  };
  const { push, receive } = createReceiver({ dedupe });
  isDown = true;
  const [beganAtMs, held] = [Date.now(), receive(eventRequest("factor.created"))];
  await until(async () => (await push.health()).status !== "healthy");
  const { since, ...health } = await push.health();
  const outage = { code: "STORE_UNAVAILABLE", reason: "connect ECONNREFUSED" };
  expect(health).toEqual({ status: "degraded", ...outage });
  expect(Number(since)).toBeGreaterThanOrEqual(beganAtMs);
  isDown = false;
  expect(await held).toBe(200);
  expect(await push.health()).toEqual({ status: "healthy" });
});

it("is unhealthy once it closes", async () => {
  const { push } = createReceiver();
  const closing = push[Symbol.asyncDispose]();
  expect(await push.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
  await closing;
});

it("is healthy while another process has claimed the uuid", async () => {
  const healths: unknown[] = [];
  const dedupe: DedupeStore = {
    ...memory,
    async claim(claim) {
      healths.push(await push.health());
      return healths.length === 1 ? "running" : memory.claim(claim);
    },
  };
  const { push, receive } = createReceiver({ dedupe });
  expect(await receive(eventRequest("factor.created"))).toBe(200);
  expect(healths).toEqual(Array(2).fill({ status: "healthy" }));
});
