import {
  createHandlers,
  verifyPushRequest,
  type Confirm,
  type PushEvent,
  type PushWebhooksOptions,
} from "express-push-verification";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import type { QueuedEvent } from "../../../lib/core/delivery/event-queue";
import { createReceiver } from "../../support/receivers";
import { never, nextTurn } from "../../support/waiting";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
} from "../../support/webhook-requests";

afterEach(() => void jest.useRealTimers());

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

describe("option confirm", () => {
  const fail = () => {
    throw new Error("the API is restarting");
  };
  it.each([
    ["a promise", async () => true, 1],
    ["a boolean after a failure", jest.fn(() => true).mockImplementationOnce(fail), 2],
  ])("accepts an event once and resolves its wait for %s", async (_what, decide, calls) => {
    const confirm = jest.fn((_event: PushEvent, { signal }: Parameters<Confirm>[1]) => {
      expect(signal.aborted).toBe(false);
      return decide();
    });
    const { receive, wait, events } = start({ confirm });
    const waiting = wait(60_000);
    for (let times = 0; times < 2; times++) expect(await receive(approval())).toBe(200);
    expect(await waiting).toMatchObject({ type: "challenge.approved", source: "webhook" });
    expect(confirm).toHaveBeenCalledTimes(calls);
    expect(events).toEqual([confirm.mock.lastCall?.[0]]);
  });

  it.each<Partial<PushWebhooksOptions>>([{ acknowledge: "before" }, { dedupe: false }])(
    "rejects an event that is not confirmed, with %j",
    async (options) => {
      const { receive, wait, ...found } = start({ ...options, confirm: () => false });
      expect(await receive(approval())).toBe(403);
      await expect(wait(1)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
      expect(found).toMatchObject({ events: [], rejected: ["NOT_CONFIRMED"], failed: [] });
    },
  );

  const denial = eventRequest("challenge.denied", { uuid: UUID });
  const recut = approval({ event_id: "1" });
  const uncut = approval({ entity_identity: `${IDENTITY}event_id1` });
  it.each<[string, () => unknown, status: number, code: string, ...(typeof denial)[]]>([
    ["returns false", () => false, 403, "NOT_CONFIRMED"],
    ["returns false for another reading", () => false, 403, "NOT_CONFIRMED", recut, uncut],
    ["returns pending", () => "pending", 403, "NOT_CONFIRMED"],
    ["fails", fail, 503, "CONFIRM_UNAVAILABLE"],
    ["returns another value", () => "true", 503, "CONFIRM_UNAVAILABLE"],
  ])(
    "confirm %s: shares the result of a forged event with its duplicate, not with the genuine one of its uuid",
    async (_what, decide, status, code, forged = approval(), genuine = denial) => {
      jest.useFakeTimers();
      const confirm = jest.fn(({ type, entity_identity }: PushEvent) => {
        const isGenuine = type === "challenge.denied" || entity_identity !== IDENTITY;
        return isGenuine || (nextTurn().then(decide) as Promise<boolean>);
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
  it("is accepted if confirm says that it is true", async () => {
    const confirm = jest.fn(() => true);
    const { receive, events } = start({ confirm });
    expect(await receive(approval({ zone: "eu" }))).toBe(200);
    const ambiguity: unknown = expect.stringContaining("zone");
    expect(confirm.mock.calls).toEqual([[events[0], expect.objectContaining({ ambiguity })]]);
  });

  it("is rejected by verifyPushRequest if confirm says that it is false", async () => {
    const request = toWebRequest(eventRequest("factor.created", { version: "3" }));
    const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm: () => false };
    const verified = verifyPushRequest(request, options);
    await expect(verified).rejects.toHaveProperty("code", "NOT_CONFIRMED");
  });
});
