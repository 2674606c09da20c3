import {
  createHandlers,
  verifyPushRequest,
  type Confirm,
  type PushEvent,
  type PushWebhooksOptions,
  type WebhookError,
} from "express-push-verification";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import type { QueuedEvent } from "../../../lib/core/delivery/event-queue";
import { createReceiver } from "../../support/receivers";
import { never, nextTurn } from "../../support/waiting";
import { send as sendTo, startServer, stopServers } from "../../support/servers";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
} from "../../support/webhook-requests";

afterEach(async () => {
  jest.useRealTimers();
  await stopServers();
});

const IDENTITY = "user-7f3a-22";
const UUID = "5d4bf6a2-0c1e-4b6b-9a52-3d0f5f6a7b8c";
const approval = (overrides: Record<string, string> = {}) =>
  eventRequest("challenge.approved", { uuid: UUID, ...overrides });

function start(options: Partial<PushWebhooksOptions>) {
  const receiver = createReceiver(options);
  const challenge = { challengeSid: CHALLENGE_SID, entityIdentity: IDENTITY };
  const wait = (timeoutMs: number) => receiver.push.waitForChallenge({ ...challenge, timeoutMs });
  return { ...receiver, wait };
}

it.each(["challenge.approved", "challenge.denied"] as const)(
  "keeps the outcome of the bytes that were verified, also when they change later: %s",
  async (type) => {
    const isGet = type === "challenge.denied";
    const request = eventRequest(type, {}, { method: isGet ? "GET" : "POST" });
    const rawBody = Buffer.from(request.body ?? "");
    const confirm = () => rawBody.fill(" ") === rawBody;
    const { push, wait } = start({ confirm });
    const port = await startServer((req, res) => push(Object.assign(req, { rawBody }), res));
    expect(await sendTo(port, request)).toHaveProperty("status", 200);
    expect(await wait(60_000)).toHaveProperty("type", type);
  },
);

describe("option confirm", () => {
  const fail = () => {
    throw new Error("the API is restarting");
  };
  it.each<[string, Confirm, calls: number]>([
    ["a boolean", () => true, 1],
    ["a promise", () => Promise.resolve(true), 1],
    ["a boolean after a failure", jest.fn(() => true).mockImplementationOnce(fail), 2],
  ])("accepts an event and resolves its wait for %s", async (_what, confirm, calls) => {
    const confirmed: PushEvent[] = [];
    const { receive, wait, events } = start({
      confirm: (event, context) => {
        confirmed.push(event);
        expect(context.signal.aborted).toBe(false);
        return confirm(event, context);
      },
    });
    const waiting = wait(60_000);
    for (let times = 0; times < 2; times++) expect(await receive(approval())).toBe(200);
    expect(await waiting).toMatchObject({ type: confirmed[0]?.type, source: "webhook" });
    expect({ length: confirmed.length, events }).toEqual({
      length: calls,
      events: confirmed.slice(0, 1),
    });
  });

  it.each<Partial<PushWebhooksOptions>>([{}, { acknowledge: "before" }, { dedupe: false }])(
    "rejects an event that is not confirmed with 403 NOT_CONFIRMED, with %j",
    async (options) => {
      const { receive, wait, events, rejected, failed } = start({
        ...options,
        confirm: () => false,
      });
      expect(await receive(approval())).toBe(403);
      await expect(wait(1)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
      expect({ events, rejected, failed }).toEqual({
        events: [],
        rejected: ["NOT_CONFIRMED"],
        failed: [],
      });
    },
  );

  // The second request is signed for another event, the third has another reading of the same text.
  const recut = { entity_identity: IDENTITY, event_id: "1" };
  const uncut = { entity_identity: `${IDENTITY}event_id1` };
  const unsure: [string, () => boolean | "pending", status: number, code: string][] = [
    ["returns false", () => false, 403, "NOT_CONFIRMED"],
    ["returns pending", () => "pending", 403, "NOT_CONFIRMED"],
    ["fails", fail, 503, "CONFIRM_UNAVAILABLE"],
    ["returns another value", () => "true" as "pending", 503, "CONFIRM_UNAVAILABLE"],
  ];
  it.each(
    unsure.flatMap((row) => [
      [...row, approval(), eventRequest("challenge.denied", { uuid: UUID })] as const,
      [...row, approval(recut), approval(uncut)] as const,
    ]),
  )(
    "confirm %s: shares the result of a forged event with its duplicate, not with the genuine one of its uuid",
    async (_what, decide, status, code, forged, genuine) => {
      jest.useFakeTimers();
      const confirm = jest.fn(({ type, entity_identity }: PushEvent) => {
        const isGenuine = type === "challenge.denied" || entity_identity !== IDENTITY;
        return isGenuine ? true : nextTurn().then(decide);
      });
      const { receive, events, rejected } = start({ confirm });
      const statuses = [receive(forged), receive(forged)];
      while (confirm.mock.calls.length === 0) await nextTurn();
      statuses.push(receive(genuine));
      await jest.advanceTimersByTimeAsync(9_000);
      expect(await Promise.all(statuses)).toEqual([status, status, 200]);
      expect(events).toHaveLength(1);
      expect(confirm.mock.lastCall?.[0]).toBe(events[0]);
      expect(rejected).toEqual([code, code]);
      expect(await receive(forged)).toBe(200); // a conflict: the uuid was handled
      expect(events).toHaveLength(1);
    },
  );

  it("leaves 500 ms of the deadline for the mark", async () => {
    jest.useFakeTimers();
    const { receive, failed } = start({ deadlineMs: 2_000, confirm: never });
    const status = receive(approval());
    await jest.advanceTimersByTimeAsync(1_499);
    expect(failed).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(await status).toBe(503);
  });

  it("is called for the types of confirmTypes", async () => {
    const types: string[] = [];
    const { receive } = start({
      confirmTypes: ["factor.verified"],
      confirm: ({ type }) => types.push(type) > 0,
    });
    for (const type of ["factor.created", "factor.verified", "challenge.denied"] as const)
      expect(await receive(eventRequest(type))).toBe(200);
    expect(types).toEqual(["factor.verified"]);
  });

  it("marks the event for the worker and is not called, with a queue", async () => {
    const stored: QueuedEvent[] = [];
    const store = async (queued: QueuedEvent) => (stored.push(queued), "new" as const);
    const queue = { store, outcomes: createMemoryOutcomes() };
    const confirm = jest.fn(() => false);
    const handlers = createHandlers();
    const { receive } = start({ confirm, handlers, queue });
    const other = () => true;
    expect(() => start({ confirm: other, handlers, queue })).toThrow(TypeError);
    expect(() => start({ confirm: other, handlers })).not.toThrow();
    for (const request of [approval(), eventRequest("factor.created"), approval({ zone: "eu" })])
      expect(await receive(request)).toBe(200);
    expect(stored.map((one) => [one.needsConfirmation, one.ambiguity])).toEqual([
      [true, undefined],
      [false, undefined],
      [true, expect.stringContaining("zone")],
    ]);
    expect(confirm).not.toHaveBeenCalled();
  });
});

describe("an event whose text can be read in another way", () => {
  const DENIED: Parameters<typeof eventRequest>[] = [
    ["challenge.denied", { challenge_details: '{"message":"x AccountSid=5"}' }],
    ["challenge.denied", { event_id: "1", version: "3" }],
    ["challenge.denied", { uuid: `${UUID}-retry` }],
    ["challenge.denied", { zone: "eu" }, { method: "GET" }],
    ["factor.verified", { webhook_sid: "1" }, { version: "v1" }],
    ["challenge.denied", { challenge_hidden_details: '{"agent":"challenge_sidYC"}' }],
  ];

  it.each(DENIED)("is accepted if confirm says that it is true: %s %j", async (...given) => {
    const [type] = given;
    const readings: unknown[] = [];
    const confirm: Confirm = (event, { ambiguity }) =>
      readings.push(ambiguity) > 0 && event.type === type;
    const trusting = start({ confirm });
    expect(await trusting.receive(eventRequest(...given))).toBe(200);
    expect(trusting.events).toMatchObject([{ type }]);
    expect(readings).toEqual([expect.any(String)]);
  });

  it("is rejected without asking if its type is unknown", async () => {
    const { receive, rejected } = start({ confirm: () => true });
    const request = eventRequest("challenge.approved", { type: "challenge.expired", zone: "eu" });
    expect(await receive(request)).toBe(400);
    expect(rejected).toEqual(["PAYLOAD_AMBIGUOUS"]);
  });

  it.each([[[]], [["event_id"]]])(
    "is no login of the user whose name is the beginning of its own, with %j declared",
    async (extraParameters) => {
      const identity = `${IDENTITY}event_id1`;
      const { receive, wait, rejected } = start({
        extraParameters,
        confirm: ({ entity_identity }) => entity_identity === identity,
      });
      const forged = approval({ event_id: "1" });
      expect(await receive(forged)).toBe(403);
      await expect(wait(1)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
      const genuine = approval({ entity_identity: identity });
      expect(genuine.headers).toEqual(forged.headers);
      expect(await receive(genuine)).toBe(200);
      expect(rejected).toEqual(["NOT_CONFIRMED"]);
    },
  );

  it.each<[string, Confirm | undefined, string]>([
    ["true", () => true, "accepted"],
    ["false", () => false, "NOT_CONFIRMED"],
    ["no function", undefined, "PAYLOAD_AMBIGUOUS"],
    ["no response", never, "CONFIRM_UNAVAILABLE"],
  ])("is confirmed by verifyPushRequest within 8 s: %s", async (_what, confirm, result) => {
    jest.useFakeTimers();
    const request = toWebRequest(eventRequest("factor.created", { version: "3" }));
    const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm };
    const results: string[] = [];
    verifyPushRequest(request, options).then(
      () => results.push("accepted"),
      ({ code }: WebhookError) => results.push(code),
    );
    // The pause between two calls is a real one.
    for (; results.length === 0; await nextTurn()) await jest.advanceTimersByTimeAsync(4_000);
    expect(results).toEqual([result]);
  });
});
