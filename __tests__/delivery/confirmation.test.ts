import { once } from "node:events";
import {
  createHandlers,
  pushWebhooks,
  WebhookError,
  type Confirm,
  type PushEvent,
  type PushWebhooksOptions,
} from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { confirmOnce } from "../../lib/delivery/confirmation";
import { createMemoryOutcomes } from "../../lib/challenge/memory-outcomes";
import type { QueuedEvent } from "../../lib/delivery/event-queue";
import { createReceiver } from "../support/receivers";
import { send as sendTo, startServer, stopServers } from "../support/servers";
import { AUTH_TOKEN, CHALLENGE_SID, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

afterEach(stopServers);

const IDENTITY = "user-7f3a-22";
const UUID = "5d4bf6a2-0c1e-4b6b-9a52-3d0f5f6a7b8c";
const approval = (overrides: Record<string, string> = {}) =>
  eventRequest("challenge.approved", { uuid: UUID, ...overrides });

/** A receiver with these options, its handled events, and its reports. */
function start(options: Partial<PushWebhooksOptions>) {
  const { push, receive: send, events, rejected, failed } = createReceiver(options);
  const wait = (timeoutMs: number) =>
    push.waitForChallenge({ challengeSid: CHALLENGE_SID, entityIdentity: IDENTITY, timeoutMs });
  return { push, send, wait, events, rejected, failed };
}

it("keeps the outcome of the bytes that were verified, also when they change later", async () => {
  const request = approval();
  const rawBody = Buffer.from(request.body!);
  const confirm = () => {
    rawBody.fill(" ");
    return true;
  };
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm });
  const port = await startServer((req, res) => push(Object.assign(req, { rawBody }), res));
  expect(await sendTo(port, request)).toHaveProperty("status", 200);
  const wait = { challengeSid: CHALLENGE_SID, entityIdentity: IDENTITY };
  expect(await push.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
});

it("keeps the outcome of a GET with an empty rawBody", async () => {
  const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm: () => true };
  const push = pushWebhooks({ ...settings, methods: ["GET"] });
  const port = await startServer((req, res) => push(Object.assign(req, { rawBody: "" }), res));
  const request = eventRequest("challenge.denied", {}, { method: "GET" });
  expect(await sendTo(port, request)).toHaveProperty("status", 200);
  const wait = { challengeSid: CHALLENGE_SID, entityIdentity: IDENTITY };
  expect(await push.waitForChallenge(wait)).toHaveProperty("type", "challenge.denied");
});

describe("option confirm", () => {
  it.each<[string, Confirm]>([
    ["a boolean", () => true],
    ["a promise", () => Promise.resolve(true)],
  ])("accepts an event for %s, after which its outcome wakes the wait", async (_, confirm) => {
    const confirmed: PushEvent[] = [];
    const { send, wait, events, rejected } = start({
      confirm: (event, context) => {
        confirmed.push(event);
        expect(context.signal.aborted).toBe(false);
        return confirm(event, context);
      },
    });
    const waiting = wait(5_000);
    expect(await send(approval())).toBe(200);
    expect(await send(approval())).toBe(200);
    expect(await waiting).toBe(confirmed[0]);
    expect(confirmed).toHaveLength(1);
    expect(events).toEqual(confirmed);
    expect(rejected).toEqual([]);
  });

  it.each(["after", "before"] as const)(
    "rejects an event that is not confirmed with 403 NOT_CONFIRMED, acknowledged %s",
    async (acknowledge) => {
      const { send, wait, events, rejected, failed } = start({
        acknowledge,
        confirm: () => false,
      });
      expect(await send(approval())).toBe(403);
      await expect(wait(1)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
      expect({ events, rejected, failed }).toEqual({
        events: [],
        rejected: ["NOT_CONFIRMED"],
        failed: [],
      });
    },
  );

  it("asks once for deliveries of one event at the same time", async () => {
    const confirm = jest.fn(() => false);
    const { send } = start({ confirm });
    const request = approval();
    expect(await Promise.all([send(request), send(request)])).toEqual([403, 403]);
    expect(confirm).toHaveBeenCalledTimes(1);
  });

  it("rejects without deduplication, too", async () => {
    const { send, events } = start({ dedupe: false, confirm: () => false });
    expect(await send(approval())).toBe(403);
    expect(events).toEqual([]);
  });

  it("does not let a forged event keep out the event that has its uuid, later or concurrently", async () => {
    const asked: string[] = [];
    let decide!: () => void;
    const decided = new Promise<void>((resolve) => (decide = resolve));
    const { send, events, rejected } = start({
      confirm: async (event) => {
        asked.push(event.type);
        await decided;
        return event.type === "challenge.denied";
      },
    });
    const denial = eventRequest("challenge.denied", { uuid: UUID });
    const forged = send(approval());
    while (asked.length === 0) await new Promise(setImmediate);
    const genuine = send(denial);
    // Wait until the genuine delivery has joined the forged one.
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    decide();
    expect(await Promise.all([forged, genuine])).toEqual([403, 200]);
    expect(await send(approval())).toBe(200); // a conflict: the uuid was handled
    expect(events).toMatchObject([{ type: "challenge.denied", uuid: UUID }]);
    expect(rejected).toEqual(["NOT_CONFIRMED"]);
  });

  it("holds a request while confirm fails", async () => {
    let calls = 0;
    const { send, events } = start({
      confirm: () => {
        if (calls++ === 0) throw new Error("the API is restarting");
        return true;
      },
    });
    expect(await send(approval())).toBe(200);
    expect(calls).toBe(2);
    expect(events).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    ["fails", () => Promise.reject(new Error("down"))],
    ["does not respond", () => new Promise(() => {})],
    ["returns no boolean", () => "true"],
  ])("responds 503 at the deadline when confirm %s, then accepts a redelivery", async (_, down) => {
    let isDown = true;
    const signals: AbortSignal[] = [];
    const { send, events, failed } = start({
      deadlineMs: 900,
      confirm: ((_event, { signal }) => {
        signals.push(signal);
        return isDown ? down() : true;
      }) as Confirm,
    });
    expect(await send(approval())).toBe(503);
    expect(failed).toEqual(["CONFIRM_UNAVAILABLE"]);
    for (const signal of signals) if (!signal.aborted) await once(signal, "abort");
    isDown = false;
    expect(await send(approval())).toBe(200);
    expect(events).toHaveLength(1);
  });

  it("is called for the types of confirmTypes", async () => {
    const types: string[] = [];
    const { send } = start({
      confirmTypes: ["factor.verified"],
      confirm: ({ type }) => types.push(type) > 0,
    });
    for (const type of ["factor.created", "factor.verified", "challenge.denied"] as const) {
      expect(await send(eventRequest(type))).toBe(200);
    }
    expect(types).toEqual(["factor.verified"]);
  });

  it("marks the event for the worker and is not called, with a queue", async () => {
    const stored: QueuedEvent[] = [];
    const confirm = jest.fn(() => false);
    const { send } = start({
      confirm,
      handlers: createHandlers(),
      queue: {
        outcomes: createMemoryOutcomes(),
        store: (queued) => Promise.resolve(stored.push(queued) > 0 ? "new" : "conflict"),
      },
    });
    expect(await send(approval())).toBe(200);
    expect(await send(eventRequest("factor.created"))).toBe(200);
    expect(stored.map((queued) => queued.needsConfirmation)).toEqual([true, false]);
    expect(confirm).not.toHaveBeenCalled();
  });
});

describe("confirmOnce, for a worker", () => {
  const event = eventFixture("challenge.approved");
  it.each<[string, Confirm | undefined, string | undefined]>([
    ["true", () => true, undefined],
    ["false", () => false, "NOT_CONFIRMED"],
    ["no function", undefined, "CONFIRM_UNAVAILABLE"],
    ["a failure", () => Promise.reject(new Error("down")), "CONFIRM_UNAVAILABLE"],
    ["no response", () => new Promise(() => {}), "CONFIRM_UNAVAILABLE"],
  ])("calls it once: %s", async (_, confirm, code) => {
    const error: unknown = await confirmOnce(confirm, event, 20).catch((thrown: unknown) => thrown);
    expect(error instanceof WebhookError ? error.code : error).toBe(code);
  });
});
