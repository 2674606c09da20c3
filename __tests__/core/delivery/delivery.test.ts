import type { DedupeClaim } from "express-push-verification";
import type { DeliveryResult } from "../../../lib/core/event/event";
import type { QueuedEvent } from "../../../lib/core/delivery/event-queue";
import { eventFixture } from "express-push-verification/testing";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { useChannels } from "../../support/channels";
import { createReceiver } from "../../support/receivers";
import { createGate, never } from "../../support/waiting";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../../support/webhook-requests";

describe("an outcome", () => {
  const event = eventFixture("challenge.approved");
  const { challenge_sid: challengeSid, entity_identity: entityIdentity, uuid } = event;
  const wait = { challengeSid, entityIdentity, timeoutMs: 20 };
  const approval = () => eventRequest("challenge.approved", { challenge_sid: challengeSid, uuid });

  it("is recorded before the handlers finish", async () => {
    const { push, receive } = createReceiver();
    const gate = createGate();
    push.onAny(() => gate.opened);
    const status = receive(approval());
    expect(await push.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
    gate.open();
    expect(await status).toBe(200);
  });

  it("of another request that has the uuid of an earlier one is not recorded", async () => {
    const { push, receive, events } = createReceiver();
    expect(await receive(eventRequest("factor.created", { uuid }))).toBe(200);
    expect(await receive(approval())).toBe(200);
    expect(events).toHaveLength(1);
    await expect(push.waitForChallenge(wait)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });
});

it("with dedupe: false, each delivery runs the handlers", async () => {
  const { receive, events } = createReceiver({ dedupe: false });
  const request = eventRequest("factor.created");
  for (let delivery = 0; delivery < 3; delivery++) expect(await receive(request)).toBe(200);
  expect(events).toHaveLength(3);
});

const rotated = {
  authToken: ["next", AUTH_TOKEN],
  publicUrl: ["https://a.example.test/", "https://b.example.test/", PUBLIC_URL],
  name: "login",
  deadlineMs: 9_000,
};

describe("with a clock of the test", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const published = useChannels("stored", "handled");
  const type = "factor.created";

  it.each<DeliveryResult>(["new", "duplicate", "conflict"])(
    "a queue stores an event with the data for its delivery: %s",
    async (result) => {
      const store = jest.fn(async (_queued: QueuedEvent, _deadlineAtMs: number) => {
        jest.advanceTimersByTime(5);
        return result;
      });
      const health = async () => ({ status: "degraded" as const });
      const queue = { store, health, outcomes: createMemoryOutcomes() };
      const { push, receive } = createReceiver({ ...rotated, queue });
      const request = eventRequest(type, { uuid: "u1" });
      expect(await receive(request)).toBe(200);
      expect(published).toEqual(result === "new" ? [["stored", { type, durationMs: 5 }]] : []);
      const queued = {
        event: expect.objectContaining({ type, uuid: "u1" }) as unknown,
        authenticatedAccount: "login",
        accountSid: ACCOUNT_SID,
        uuid: "u1",
        receiver: "login",
        contentHash: request.headers["x-service-signature"],
        listOtherHashes: expect.any(Function) as unknown,
        authTokenIndex: 1,
        publicUrlIndex: 2,
        needsConfirmation: false,
      };
      expect(store.mock.calls).toEqual([[queued, performance.now() + 9_000 - 5]]);
      const other = eventRequest(type, { uuid: "u1" }, { authToken: "next" });
      const hashes = store.mock.lastCall?.[0].listOtherHashes?.();
      expect(hashes).toEqual([other.headers["x-service-signature"]]);
      expect(await push.health()).toHaveProperty("status", "degraded");
    },
  );

  it("handlers get the context of their request", async () => {
    const { push, receive } = createReceiver(rotated);
    const handler = jest.fn((..._given) => void jest.advanceTimersByTime(7));
    push.onAny(handler);
    expect(await receive(eventRequest(type))).toBe(200);
    expect(published).toEqual([["handled", { type, attempt: 1, durationMs: 7 }]]);
    const context = { attempt: 1, authTokenIndex: 1, publicUrlIndex: 2, receiver: "login" };
    expect(handler.mock.calls[0]?.[1]).toMatchObject(context);
  });

  it("handlers end after handlerTimeoutMs, also before the deadline", async () => {
    const { push, receive, failed } = createReceiver({ handlerTimeoutMs: 50 });
    push.on(type, never);
    const status = receive(eventRequest(type));
    await jest.advanceTimersByTimeAsync(50);
    expect(failed).toEqual(["HANDLER_TIMEOUT"]);
    expect(await status).toBe(500);
  });

  it("a claim lasts a minute, or until 10 s after the last attempt to mark it", async () => {
    const leases: number[] = [];
    const claim = ({ leaseMs }: DedupeClaim) => (leases.push(leaseMs), "done" as const);
    const dedupe = { claim, complete() {}, release() {} };
    const before = { acknowledge: "before", handlerTimeoutMs: 60_000 } as const;
    for (const options of [{}, before]) {
      const { receive } = createReceiver({ dedupe, deadlineMs: 14_000, ...options });
      expect(await receive(eventRequest(type))).toBe(200);
    }
    expect(leases).toEqual([60_000, 92_000]);
  });
});
