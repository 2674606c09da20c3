import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { createHandlers, PermanentError, WebhookError } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { setConfirm } from "../../../lib/core/delivery/handler-registry";
import { StoredDelivery, type WorkOptions } from "../../../lib/core/delivery/stored-delivery";
import { useChannels } from "../../support/channels";
import { silent } from "../../support/receivers";
import { createGate, never, nextTurn } from "../../support/waiting";

const event = eventFixture("challenge.approved", { uuid: "u1" });
const context = { authTokenIndex: 1, publicUrlIndex: 2, receiver: "web" };
const stored = { event, authenticatedAccount: "account", ...context };
const doubted = { ...stored, needsConfirmation: true };
const recordOutcome = jest.fn(async () => {});
const error = jest.fn();

function start(options: WorkOptions = {}, handlers = createHandlers().onAny(() => {})) {
  const queue = { name: "logins", logger: { ...silent, error }, recordOutcome };
  return new StoredDelivery(handlers, options, queue);
}

beforeEach(() => void jest.clearAllMocks());
afterEach(() => void jest.useRealTimers());

it.each([
  ["trigger-1", true, false, false, false],
  ["trigger-1", "pending", false, true, false],
  ["trigger-1", false, true, true, true],
  ["evt-trigger-1", false, true, true, false],
  ["final-1", true, true, false, false],
] as const)(
  "a failed run of %s, confirmed: %s, is permanent: %s, forged: %s, invented: %s",
  async (uuid, confirmation, isPermanent, isForged, isInvented) => {
    const long = new Error(`${uuid} `.repeat(200));
    const handlers = createHandlers().onAny(() => Promise.reject(long));
    if (uuid === "final-1") handlers.onAny(() => Promise.reject(new PermanentError("never")));
    setConfirm(handlers, "web", () => !confirmation);
    const worker = start({ confirm: () => confirmation }, handlers);
    const read = { ...doubted, event: eventFixture("challenge.approved", { uuid }) };
    const failure = await worker.run(() => read, 1);
    expect(failure).toMatchObject({ isPermanent, isForged, isInvented });
    expect(failure?.masked).not.toContain(uuid);
    expect(failure?.masked.length).toBeLessThanOrEqual(501);
    expect(recordOutcome).toHaveBeenCalledTimes(Number(confirmation === true));
  },
);

it("passes what was stored to handlers and traces without a confirmation", async () => {
  const [handler, confirm, listen] = [jest.fn(), jest.fn(), jest.fn()];
  const traced = tracingChannel("express-push-verification:handle").start;
  traced.subscribe(listen);
  const carrier = { traceparent: "00-1" };
  const worker = start({ confirm }, createHandlers().onAny(handler));
  expect(await worker.run(() => ({ ...stored, carrier }), 3)).toBeUndefined();
  traced.unsubscribe(listen);
  expect(confirm).not.toHaveBeenCalled();
  const signal: unknown = expect.any(AbortSignal);
  expect(handler.mock.calls).toEqual([[event, { attempt: 3, ...context, signal }]]);
  const run = { type: event.type, uuid: "u1", attempt: 3, receiver: "web", carrier };
  expect(listen.mock.calls[0]?.[0]).toEqual({ queue: "logins", ...run });
});

it("asks the confirm of the event's receiver, then records its outcome", async () => {
  const steps: string[] = [];
  recordOutcome.mockImplementationOnce(() => nextTurn().then(() => void steps.push("recorded")));
  const handlers = createHandlers().onAny(() => steps.push("handled"));
  const confirm = jest.fn(() => true);
  setConfirm(handlers, "web", confirm);
  setConfirm(handlers, "other", () => false);
  const worker = start({}, handlers);
  expect(await worker.run(() => ({ ...doubted, ambiguity: "zone" }), 1)).toBeUndefined();
  expect(steps).toEqual(["recorded", "handled"]);
  const asked: unknown = expect.objectContaining({ ambiguity: "zone" });
  expect(confirm.mock.calls).toEqual([[event, asked]]);
  const outcome: unknown = expect.objectContaining({ type: event.type });
  expect(recordOutcome.mock.calls).toEqual([["account", outcome]]);
  await worker.run(() => ({ ...doubted, event: eventFixture("factor.created") }), 1);
  expect(recordOutcome).toHaveBeenCalledTimes(1);
});

const thrown = Object.assign(new Error("ECONNRESET"), { args: ["ada"] });
const coded = new WebhookError("OVERLOADED", "full");
const unknown = new WebhookError("INTERNAL_ERROR", "of version 9");
const read = () => doubted;
const fail = (reason: Error) => () => {
  throw reason;
};
it.each<[string, WorkOptions, () => typeof doubted, masked?: string]>([
  ["CONFIRM_UNAVAILABLE: The event needs a confirmation", {}, read],
  ["CONFIRM_UNAVAILABLE: ECONNRESET", { confirm: fail(thrown) }, read],
  ["CONFIRM_UNAVAILABLE: full", { confirm: fail(coded) }, read],
  ["INTERNAL_ERROR: This version", {}, fail(new Error("ada")), "INTERNAL_ERROR"],
  ["INTERNAL_ERROR: This version", {}, fail(coded), "INTERNAL_ERROR"],
  ["INTERNAL_ERROR: of version 9", {}, fail(unknown), "INTERNAL_ERROR"],
])("reports the failure %s, without arguments", async (reason, options, readIt, ...expected) => {
  const onError = jest.fn();
  const failure = await start({ ...options, onError }).run(readIt, 1);
  const [masked = failure?.reason] = expected;
  expect(failure).toMatchObject({ isPermanent: false, isForged: false, masked });
  expect(failure?.reason).toMatch(new RegExp(`^${reason}`));
  const code = reason.split(":")[0];
  expect(onError.mock.calls).toMatchObject([[{ code }, ...(masked === code ? [] : [event])]]);
  expect(error.mock.calls).toMatchObject([[{ queue: "logins", code }, expect.any(String)]]);
  expect(inspect(onError.mock.calls[0]?.[0], { depth: 5 })).not.toContain("args");
});

it.each<[WorkOptions, number]>([
  [{ confirm: never }, 4_000],
  [{ confirm: () => true }, 10_000],
  [{ confirm: () => true, handlerTimeoutMs: 50 }, 50],
])("with %j, a run that does not end fails after %i ms", async (options, durationMs) => {
  jest.useFakeTimers();
  const failed = jest.fn();
  void start(options, createHandlers().onAny(never)).run(read, 1).then(failed);
  await jest.advanceTimersByTimeAsync(durationMs - 1);
  expect(failed).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(failed.mock.calls).toMatchObject([[{ durationMs }]]);
});

it("says since when it has room: for 16 events by default", async () => {
  jest.useFakeTimers();
  const gate = createGate();
  const handlers = createHandlers().onAny(() => gate.opened);
  const worker = start({}, handlers);
  jest.advanceTimersByTime(5);
  const run = () => worker.run(() => stored, 1);
  const runs = Array.from({ length: 15 }, run);
  expect(worker.freedAtMs()).toBe(performance.now());
  runs.push(run());
  expect(worker.freedAtMs()).toBeUndefined();
  jest.advanceTimersByTime(5);
  gate.open();
  await Promise.all(runs);
  expect(worker.freedAtMs()).toBe(performance.now());
});

describe("a dead letter", () => {
  const published = useChannels("dead-lettered");
  it("is published and logged without control characters", () => {
    start().reportDeadLetter({ type: "a\n", uuid: "b\n", receiver: "web" }, 3, "c\n");
    expect(published).toEqual([["dead-lettered", { type: "a\n", attempts: 3 }]]);
    const texts = { type: "a\\u000a", uuid: "b\\u000a", error: "c\\u000a" };
    const fields = { queue: "logins", receiver: "web", attempts: 3, ...texts };
    expect(error.mock.calls).toEqual([[fields, expect.any(String)]]);
  });
});

it.each([
  { concurrency: 0 },
  { concurrency: 10_001 },
  { handlerTimeoutMs: 0 },
  { handlerTimeoutMs: 2 ** 31 },
  { confirm: 1 },
  { onError: 1 },
])("the options %j are a TypeError", (options) =>
  expect(() => start(options as never)).toThrow(TypeError),
);

it.each([createHandlers(), { ...createHandlers().onAny(never) }])(
  "the handlers %j are a TypeError",
  (handlers) => expect(() => start({}, handlers)).toThrow(TypeError),
);
