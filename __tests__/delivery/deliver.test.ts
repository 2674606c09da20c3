import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createDeliverOnce } from "../../lib/delivery/dedupe";
import { createDeliverLater, createDeliverNow } from "../../lib/delivery/deliver";
import type { Dispatch } from "../../lib/delivery/dispatch";
import { createMemoryOutcomes } from "../../lib/challenge/memory-outcomes";
import { createMemoryDedupe } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";

const event = eventFixture("challenge.approved");
const denied = eventFixture("challenge.denied", { uuid: event.uuid });
const queuedOf = (of: typeof event | typeof denied, contentHash = "hash") => ({
  account: "",
  accountSid: of.account_sid,
  uuid: of.uuid,
  contentHash,
  event: of,
  needsConfirmation: false,
  authTokenIndex: 1,
  publicUrlIndex: 0,
  receiver: "login",
});
const waitOf = (challengeSid: string) => ({ account: "", challengeSid, timeoutMs: 20 });
const never = Number.POSITIVE_INFINITY;

type Acknowledge = "after" | "before";

/** The published messages of a test. */
const published: object[] = [];
const listener = (message: unknown) => void published.push(message as object);
beforeEach(() => {
  published.splice(0);
  subscribe("express-push-verification:stored", listener);
});
afterEach(() => void unsubscribe("express-push-verification:stored", listener));

describe("createDeliverNow", () => {
  const start = (dispatch: Dispatch = async () => {}, acknowledge: Acknowledge = "after") => {
    const outcomes = createMemoryOutcomes({ maxEntries: 1 });
    const once = createDeliverOnce(createMemoryDedupe(), () => {});
    const timing = { acknowledge, handlerTimeoutMs: 1_000 };
    return { outcomes, deliver: createDeliverNow(timing, once, outcomes, dispatch) };
  };

  it("runs the handlers and records the outcome of a challenge", async () => {
    const dispatch = jest.fn(async () => {});
    const { outcomes, deliver } = start(dispatch);
    await (
      await deliver(queuedOf(event), never)
    ).finished;
    const context = { attempt: 1, authTokenIndex: 1, publicUrlIndex: 0, receiver: "login" };
    expect(dispatch.mock.calls).toEqual([[event, context, 1_000]]);
    await expect(outcomes.wait(waitOf(event.challenge_sid))).resolves.toEqual(event);
  });

  it.each<[Acknowledge, leftMs: number, min: number, max: number]>([
    ["after", 900, 300, 400],
    ["after", 100, 1, 1],
    ["before", 900, 1_000, 1_000],
  ])("acknowledged %s the handlers, they may run for what %d ms leave", async (...row) => {
    const [acknowledge, leftMs, min, max] = row;
    let timeoutMs = 0;
    const { deliver } = start(async (_event, _context, givenMs) => {
      timeoutMs = givenMs;
    }, acknowledge);
    await (
      await deliver(queuedOf(event), performance.now() + leftMs)
    ).finished;
    expect(timeoutMs).toBeGreaterThanOrEqual(min);
    expect(timeoutMs).toBeLessThanOrEqual(max);
  });

  it("records the outcome before the handlers finish", async () => {
    const { outcomes, deliver } = start(() => new Promise(() => {}));
    await deliver(queuedOf(event), never);
    await expect(outcomes.wait(waitOf(event.challenge_sid))).resolves.toEqual(event);
  });

  it("records no outcome of another request that has the uuid of an earlier one", async () => {
    const { outcomes, deliver } = start();
    const created = eventFixture("factor.created", { uuid: event.uuid });
    await deliver({ ...queuedOf(event), event: created, contentHash: "first" }, never);
    expect(await deliver(queuedOf(denied, "second"), never)).toHaveProperty("result", "conflict");
    await expect(outcomes.wait(waitOf(denied.challenge_sid))).rejects.toHaveProperty(
      "code",
      "CHALLENGE_TIMEOUT",
    );
  });

  it("does not bring back an evicted outcome when a replay is dropped as a duplicate", async () => {
    const { outcomes, deliver } = start();
    await deliver(queuedOf(event), never);
    const other = eventFixture("challenge.denied", { challenge_sid: `YC${"1".repeat(32)}` });
    await deliver(queuedOf(other), never);
    expect(await deliver(queuedOf(event), never)).toHaveProperty("result", "duplicate");
    await expect(outcomes.wait(waitOf(event.challenge_sid))).rejects.toHaveProperty(
      "code",
      "CHALLENGE_TIMEOUT",
    );
  });
});

describe("createDeliverLater", () => {
  it.each(["new", "duplicate", "conflict"] as const)("is done when stored: %s", async (result) => {
    const store = jest.fn(() => Promise.resolve(result));
    const deliver = createDeliverLater({ store, outcomes: createMemoryOutcomes() });
    const delivery = await deliver(queuedOf(event), never);
    await delivery.finished;
    expect(delivery.result).toBe(result);
    expect(store.mock.calls).toEqual([[queuedOf(event), never]]);
    const stored = { type: event.type, durationMs: expect.any(Number) };
    expect(published).toEqual(result === "new" ? [stored] : []);
  });
});
