import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createChallengeOutcomes } from "../lib/challenges";
import { createDeliverOnce } from "../lib/dedupe";
import { createDeliverLater, createDeliverNow, createHandle } from "../lib/deliver";
import type { Dispatch } from "../lib/dispatch";
import { createHold } from "../lib/hold";
import { createReports } from "../lib/reports";
import { createMemoryDedupe, WebhookError } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";

const event = eventFixture("challenge.approved");
const denied = eventFixture("challenge.denied", { uuid: event.uuid });
const callOf = (of: typeof event | typeof denied, contentHash = "hash") => ({
  uuid: of.uuid,
  contentHash,
  event: of,
  authTokenIndex: 1,
});

/** What was published while a test ran. */
const published: [name: string, message: object][] = [];
const names = ["stored", "handled", "failed"].map((name) => `express-push-verification:${name}`);
const listener = (message: unknown, name: string | symbol) =>
  void published.push([String(name).split(":")[1] ?? "", message as object]);
beforeEach(() => {
  published.splice(0);
  for (const name of names) subscribe(name, listener);
});
afterEach(() => {
  for (const name of names) unsubscribe(name, listener);
});

describe("createDeliverNow", () => {
  const make = (handle: Dispatch = async () => {}) => {
    const challenges = createChallengeOutcomes();
    const once = createDeliverOnce(createMemoryDedupe(), createHold(), () => {});
    return { challenges, deliver: createDeliverNow(once, handle, challenges) };
  };

  it("runs the handlers and keeps the outcome of a challenge", async () => {
    const handle = jest.fn(async () => {});
    const { challenges, deliver } = make(handle);
    await (
      await deliver(callOf(event))
    ).done;
    expect(handle.mock.calls).toEqual([[event, { attempt: 1, authTokenIndex: 1 }]]);
    await expect(challenges.wait(event.challenge_sid)).resolves.toEqual(event);
  });

  it("keeps the outcome as it came, whatever the handlers make of the event", async () => {
    const given = eventFixture("challenge.approved");
    const { challenges, deliver } = make(({ params }) => {
      params.splice(0);
      return Promise.resolve();
    });
    await deliver(callOf(given));
    await expect(challenges.wait(event.challenge_sid)).resolves.toMatchObject({
      type: event.type,
      entity_identity: event.entity_identity,
    });
  });

  it("keeps no outcome of another call that has the uuid of an earlier one", async () => {
    const { challenges, deliver } = make();
    const created = eventFixture("factor.created", { uuid: event.uuid });
    await deliver({ ...callOf(event), event: created, contentHash: "first" });
    expect(await deliver(callOf(denied, "second"))).toHaveProperty("outcome", "conflict");
    const waited = challenges.wait(denied.challenge_sid, { timeoutMs: 20 });
    await expect(waited).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });
});

describe("createDeliverLater", () => {
  it.each(["new", "duplicate", "conflict"] as const)(
    "is done when it is stored: %s",
    async (as) => {
      const store = jest.fn(() => Promise.resolve(as));
      const deliver = createDeliverLater({ store, waitForChallenge: () => Promise.resolve(event) });
      const delivery = await deliver(callOf(event));
      await delivery.done;
      expect(delivery.outcome).toBe(as);
      expect(store.mock.calls).toEqual([[callOf(event)]]);
      const told = ["stored", { type: event.type, durationMs: expect.any(Number) }];
      expect(published).toEqual(as === "new" ? [told] : []);
    },
  );
});

describe("createHandle", () => {
  const context = { attempt: 3, authTokenIndex: 0 };
  const run = { type: event.type, attempt: 3, durationMs: expect.any(Number) };

  it("tells of what was handled", async () => {
    await createHandle(() => Promise.resolve(), createReports(undefined))(event, context);
    expect(published).toEqual([["handled", run]]);
  });

  it("tells of what failed, and lets it fail", async () => {
    const failure = new WebhookError("HANDLER_FAILED", "no");
    const reports = createReports(undefined);
    const onError = jest.fn();
    reports.onError(onError);
    const handled = createHandle(() => Promise.reject(failure), reports)(event, context);
    await expect(handled).rejects.toBe(failure);
    expect(published).toEqual([["failed", { ...run, code: "HANDLER_FAILED" }]]);
    expect(onError.mock.calls).toEqual([[failure, event]]);
  });
});
