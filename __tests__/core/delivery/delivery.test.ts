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
  const waitOf = { challengeSid, entityIdentity, timeoutMs: 20 };
  const approval = () => eventRequest("challenge.approved", { challenge_sid: challengeSid, uuid });

  it("is recorded before the handlers finish", async () => {
    const { push, receive } = createReceiver();
    const gate = createGate();
    push.onAny(() => gate.opened);
    const status = receive(approval());
    await expect(push.waitForChallenge(waitOf)).resolves.toHaveProperty(
      "type",
      "challenge.approved",
    );
    gate.open();
    expect(await status).toBe(200);
  });

  it("of another request that has the uuid of an earlier one is not recorded", async () => {
    const { push, receive, events } = createReceiver();
    expect(await receive(eventRequest("factor.created", { uuid }))).toBe(200);
    expect(await receive(approval())).toBe(200);
    expect(events).toHaveLength(1);
    await expect(push.waitForChallenge(waitOf)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });
});

it("with dedupe: false, each delivery runs the handlers", async () => {
  const { receive, events } = createReceiver({ dedupe: false });
  const request = eventRequest("factor.created");
  for (let delivery = 0; delivery < 3; delivery++) expect(await receive(request)).toBe(200);
  expect(events).toHaveLength(3);
});

describe("with a clock of the test", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const published = useChannels("stored", "handled");

  it("a store or handlers get the context of their request", async () => {
    const type = "factor.created";
    const store = async (_queued: QueuedEvent, deadlineAtMs: number) => {
      expect(deadlineAtMs).toBe(performance.now() + 9_000);
      jest.advanceTimersByTime(5);
      return "new" as const;
    };
    const health = async () => ({ status: "degraded" as const });
    const settings = {
      authToken: ["next", AUTH_TOKEN],
      publicUrl: ["https://new.example.test/a", "https://new.example.test/b", PUBLIC_URL],
      name: "login",
      deadlineMs: 9_000,
    };
    const queue = { store, health, outcomes: createMemoryOutcomes() };
    const stored = createReceiver({ ...settings, queue });
    const handled = createReceiver(settings);
    const handler = jest.fn((..._given) => void jest.advanceTimersByTime(7));
    handled.push.onAny(handler);
    for (const one of [stored, handled]) expect(await one.receive(eventRequest(type))).toBe(200);
    expect(published).toEqual([
      ["stored", { type, durationMs: 5 }],
      ["handled", { type, attempt: 1, durationMs: 7 }],
    ]);
    const context = { attempt: 1, authTokenIndex: 1, publicUrlIndex: 2, receiver: "login" };
    expect(handler.mock.calls[0]?.[1]).toMatchObject(context);
    expect(await stored.push.health()).toHaveProperty("status", "degraded");
  });

  it("handlers end after handlerTimeoutMs, also before the deadline", async () => {
    const { push, receive, failed } = createReceiver({ handlerTimeoutMs: 50 });
    push.on("factor.created", never);
    const status = receive(eventRequest("factor.created"));
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
      expect(await receive(eventRequest("factor.created"))).toBe(200);
    }
    expect(leases).toEqual([60_000, 92_000]);
  });
});

describe("a receiver with a queue", () => {
  const published = useChannels("stored");
  it.each<[method: "POST" | "GET", result: DeliveryResult]>([
    ["POST", "new"],
    ["GET", "new"],
    ["POST", "duplicate"],
    ["POST", "conflict"],
  ])("stores the event of a %s with the data for its delivery: %s", async (method, result) => {
    const stored: QueuedEvent[] = [];
    const store = async (queued: QueuedEvent) => (stored.push(queued), result);
    const { receive } = createReceiver({
      authToken: ["next", AUTH_TOKEN],
      publicUrl: ["https://new.example.test/push", PUBLIC_URL],
      name: "login",
      queue: { store, outcomes: createMemoryOutcomes() },
    });
    const request = eventRequest("challenge.approved", { uuid: "u1" }, { method });
    expect(await receive(request)).toBe(200);
    const type = "challenge.approved";
    const delivered: unknown[] = ["stored", { type, durationMs: expect.any(Number) }];
    expect(published).toEqual(result === "new" ? [delivered] : []);
    const event: unknown = expect.objectContaining({ type, uuid: "u1" });
    const hashes = {
      contentHash: request.headers["x-service-signature"],
      listOtherHashes: expect.any(Function) as unknown,
    };
    const indexes = { authTokenIndex: 1, publicUrlIndex: 1 };
    const names = {
      authenticatedAccount: "login",
      accountSid: ACCOUNT_SID,
      uuid: "u1",
      receiver: "login",
    };
    expect(stored).toEqual([{ event, ...names, ...hashes, ...indexes, needsConfirmation: false }]);
    const other = eventRequest(type, { uuid: "u1" }, { method, authToken: "next" });
    expect(stored[0]?.listOtherHashes?.()).toEqual([other.headers["x-service-signature"]]);
  });
});
