/** Parts of an event that a receiver records, stores, and passes to a queue. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  createMemoryDedupe,
  type DeliveryResult,
  type QueuedEvent,
} from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createMemoryOutcomes } from "../../lib/challenge/memory-outcomes";
import { createDeliverOnce } from "../../lib/delivery/dedupe";
import { createDeliverNow } from "../../lib/delivery/deliver";
import type { Dispatch } from "../../lib/delivery/dispatch";
import { queuedEvent } from "../support/durable";
import { createReceiver } from "../support/receivers";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

describe("an outcome", () => {
  const event = eventFixture("challenge.approved");
  const waitOf = (challengeSid: string) => ({ account: "", challengeSid, timeoutMs: 20 });
  const never = Number.POSITIVE_INFINITY;
  const start = (dispatch: Dispatch = async () => {}) => {
    const outcomes = createMemoryOutcomes({ maxEntries: 1 });
    const once = createDeliverOnce(createMemoryDedupe(), () => {});
    const timing = { acknowledge: "after", handlerTimeoutMs: 1_000 } as const;
    return { outcomes, deliver: createDeliverNow(timing, once, outcomes, dispatch) };
  };

  it("is recorded before the handlers finish", async () => {
    const { outcomes, deliver } = start(() => new Promise(() => {}));
    await deliver(queuedEvent(event), never);
    await expect(outcomes.wait(waitOf(event.challenge_sid))).resolves.toEqual(event);
  });

  it("of another request that has the uuid of an earlier one is not recorded", async () => {
    const { outcomes, deliver } = start();
    await deliver(queuedEvent(eventFixture("factor.created", { uuid: event.uuid })), never);
    const other = queuedEvent(event, { contentHash: "other" });
    expect(await deliver(other, never)).toHaveProperty("result", "conflict");
    const late = outcomes.wait(waitOf(event.challenge_sid));
    await expect(late).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });

  it("that was evicted does not come back when a replay is dropped as a duplicate", async () => {
    const { outcomes, deliver } = start();
    await deliver(queuedEvent(event), never);
    const other = eventFixture("challenge.denied", { challenge_sid: `YC${"1".repeat(32)}` });
    await deliver(queuedEvent(other), never);
    expect(await deliver(queuedEvent(event), never)).toHaveProperty("result", "duplicate");
    const late = outcomes.wait(waitOf(event.challenge_sid));
    await expect(late).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });
});

it("with dedupe: false, each delivery runs the handlers", async () => {
  const { receive, events } = createReceiver({ dedupe: false });
  const request = eventRequest("factor.created");
  for (let delivery = 0; delivery < 3; delivery++) expect(await receive(request)).toBe(200);
  expect(events).toHaveLength(3);
});

describe("a receiver with a queue", () => {
  it.each<[method: "POST" | "GET", result: DeliveryResult]>([
    ["POST", "new"],
    ["GET", "new"],
    ["POST", "duplicate"],
    ["POST", "conflict"],
  ])("stores the event of a %s with the data for its delivery: %s", async (method, result) => {
    const published: unknown[] = [];
    const listener = (message: unknown) => void published.push(message);
    subscribe("express-push-verification:stored", listener);
    const stored: QueuedEvent[] = [];
    const { receive } = createReceiver({
      authToken: ["next", AUTH_TOKEN],
      publicUrl: ["https://new.example.test/push", PUBLIC_URL],
      name: "login",
      queue: {
        store: async (queued) => (stored.push(queued), result),
        outcomes: createMemoryOutcomes(),
      },
    });
    const request = eventRequest("challenge.approved", { uuid: "u1" }, { method });
    expect(await receive(request)).toBe(200);
    unsubscribe("express-push-verification:stored", listener);
    const type = "challenge.approved";
    expect(published).toEqual(
      result === "new" ? [{ type, durationMs: expect.any(Number) as number }] : [],
    );
    expect(stored).toEqual([
      {
        event: expect.objectContaining({ type, uuid: "u1" }) as unknown,
        account: "login",
        accountSid: ACCOUNT_SID,
        uuid: "u1",
        contentHash: request.headers["x-service-signature"],
        listOtherHashes: expect.any(Function) as unknown,
        needsConfirmation: false,
        authTokenIndex: 1,
        publicUrlIndex: 1,
        receiver: "login",
      },
    ]);
  });
});
