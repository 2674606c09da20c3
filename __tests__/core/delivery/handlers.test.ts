import {
  createHandlers,
  PUSH_EVENT_TYPES,
  pushWebhooks,
  type Handlers,
  type PushEvent,
  type PushEventType,
  type PushWebhooks,
} from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { areHandlersEmpty, type AnyHandler } from "../../../lib/core/delivery/handler-registry";
import { useChannels } from "../../support/channels";
import { silent } from "../../support/receivers";
import { HOSTILE_VALUES } from "../../support/thrown-values";
import { createGate, nextTurn } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";

const event = eventFixture("challenge.approved");
const context = { attempt: 3, authTokenIndex: 1, publicUrlIndex: 2, receiver: "login" };
const noop = () => {};
const CHALLENGE_TYPES = ["challenge.approved", "challenge.denied"] as const;
const FAILED: unknown = expect.objectContaining({ code: "HANDLER_FAILED" });
const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, name: "login" };

function dispatch(handlers: Handlers, type: string = event.type, handlerTimeoutMs = 14_000) {
  const push = pushWebhooks({ ...options, handlers, handlerTimeoutMs, logger: silent });
  return push.dispatch({ ...event, type } as PushEvent, context);
}

function dispatchTo(all: AnyHandler[], timeoutMs?: number) {
  const handlers = createHandlers();
  for (const handler of all) handlers.onAny(handler);
  return dispatch(handlers, event.type, timeoutMs);
}

describe("createHandlers", () => {
  let called: string[];
  const handlerOf = (name: string) => () => void called.push(name);
  const calledFor = async (handlers: Handlers, type: string) => {
    called = [];
    await dispatch(handlers, type);
    return called.join("");
  };

  it("runs the handlers of the type before those of onAny, each once", async () => {
    const [a, b, c, other] = ["a", "b", "c", "other"].map(handlerOf) as (() => void)[];
    const handlers = createHandlers()
      .on("challenge.approved", a!)
      .on(["challenge.approved", "challenge.denied"], b!)
      .onAny(c!)
      .onAny(a!)
      .on("factor.created", other!)
      .onUnhandled(other!);
    expect(await calledFor(handlers, "challenge.approved")).toBe("abc");
    expect(await calledFor(handlers, "challenge.denied")).toBe("bca");
  });

  it("removes a handler from one of its types", async () => {
    const b = handlerOf("b");
    const handlers = createHandlers().on(["challenge.approved", "challenge.denied"], b);
    handlers.on("challenge.approved", handlerOf("a"));
    handlers.off(["challenge.approved"], b).off("factor.created", b);
    expect(await calledFor(handlers, "challenge.approved")).toBe("a");
    expect(await calledFor(handlers, "challenge.denied")).toBe("b");
  });

  it("runs onUnhandled for types without a handler of their own", async () => {
    const handlers = createHandlers()
      .on("challenge.approved", handlerOf("approved"))
      .onUnhandled(handlerOf("unhandled"))
      .onAny(handlerOf(" any"));
    for (const type of ["challenge.denied", "toString"])
      expect(await calledFor(handlers, type)).toBe("unhandled any");
    expect(await calledFor(handlers, "challenge.approved")).toBe("approved any");
  });

  it("lists the types that have a handler: all of them with onAny", () => {
    const handlers = createHandlers();
    expect(handlers.handledTypes()).toEqual([]);
    handlers.on(["challenge.denied", "factor.created"], noop).onUnhandled(noop);
    expect(handlers.handledTypes()).toEqual(["factor.created", "challenge.denied"]);
    expect(handlers.onAny(noop).handledTypes()).toEqual(PUSH_EVENT_TYPES);
    expect(areHandlersEmpty(createHandlers().onUnhandled(noop))).toBe(false);
  });

  it.each<[types: unknown, hint: RegExp]>([
    ["challenge.aproved", /"challenge.approved"\?/],
    ["*", /onAny/],
    [undefined, /^(on|off): type/],
    [[], /^(on|off): the list/],
    [["factor.created", "x"], /^(on|off): type/],
  ])("rejects the types %j: %p", (types, hint) => {
    const handlers = createHandlers();
    for (const method of ["on", "off"] as const) {
      const change = () => handlers[method](types as PushEventType, noop);
      expect(change).toThrow(TypeError);
      expect(change).toThrow(hint);
    }
    expect(areHandlersEmpty(handlers)).toBe(true);
  });

  it.each([undefined, {}])("rejects the handler %j", (handler) => {
    const { on, onAny, onUnhandled } = createHandlers();
    expect(() => on("factor.created", handler as never)).toThrow(/^on: the handler/);
    expect(() => onAny(handler as never)).toThrow(/^onAny: the handler/);
    expect(() => onUnhandled(handler as never)).toThrow(/^onUnhandled: the handler/);
  });
});

async function endWait(push: PushWebhooks): Promise<void> {
  const wait = { challengeSid: `YC${"9".repeat(32)}`, entityIdentity: "nobody-1" };
  const ended = push.waitForChallenge({ ...wait, timeoutMs: 1 });
  await expect(ended).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
}

describe("dispatch", () => {
  const published = useChannels("handled", "unhandled", "failed");
  const warnings = useWarnings();

  it("passes the event and its context to each handler", async () => {
    const handler = jest.fn();
    const push = pushWebhooks(options).onAny(noop).onAny(handler);
    for (const given of [undefined, context]) await push.dispatch(event, given);
    const first = { attempt: 1, authTokenIndex: 0, publicUrlIndex: 0, receiver: "login" };
    const signal: unknown = expect.any(AbortSignal);
    const runs = [first, context].map((run) => [event, { ...run, signal }]);
    expect(handler.mock.calls).toEqual(runs);
  });

  it.each([
    ["text", /see the cause/],
    [undefined, /^((?!the cause).)*$/],
  ])("fails with the value that a handler throws as its cause: %p", async (cause, message) => {
    const others = jest.fn();
    const fail = () => {
      throw cause;
    };
    const failed = await dispatchTo([fail, others]).catch(Object);
    expect(failed).toMatchObject({ code: "HANDLER_FAILED", cause });
    expect(failed.message).toMatch(message);
    expect(others).toHaveBeenCalled();
  });

  it.each(HOSTILE_VALUES)("warns of a handler that rejects with %s", async (_what, reason) => {
    const push = pushWebhooks(options).onAny(() => Promise.reject(reason));
    expect(await push.dispatch(event).catch(Object)).toEqual(FAILED);
    expect(warnings.listCodes()).toEqual(["HANDLER_FAILED"]);
  });

  const { challenge_sid: challengeSid, entity_identity: entityIdentity } = event;
  it.each<[what: string, isHandled: boolean, prepare: (push: PushWebhooks) => unknown]>([
    ["listeners", false, (push) => push.onRejected(noop).onError(noop)],
    ["a handler of another type", false, (push) => push.on("factor.created", noop)],
    ["onAny", true, (push) => push.onAny(noop)],
    ["onUnhandled", true, (push) => push.onUnhandled(noop)],
    ["a wait", true, (push) => push.waitForChallenge({ challengeSid, entityIdentity })],
    ["a wait for another challenge that has ended", true, endWait],
  ])("of an event of a receiver with %s, handled: %s", async (what, isHandled, prepare) => {
    const push = pushWebhooks(options);
    const prepared = prepare(push);
    for (const type of CHALLENGE_TYPES) await push.dispatch({ ...event, type } as PushEvent);
    await prepared;
    const handled = isHandled && what !== "onUnhandled" ? CHALLENGE_TYPES : [];
    expect(push.handledTypes().filter((type) => type.startsWith("challenge"))).toEqual(handled);
    expect(warnings.listCodes()).toEqual(isHandled ? [] : ["EVENT_UNHANDLED"]);
    const name = isHandled ? "handled" : "unhandled";
    expect(published.map(([one]) => one)).toEqual([name, name]);
  });

  it("a wait handles the challenges of known types for all receivers with its handlers", async () => {
    const handlers = createHandlers();
    await endWait(pushWebhooks({ ...options, handlers, logger: silent }));
    for (const type of [event.type, "factor.created", "challenge.expired"])
      await dispatch(handlers, type);
    expect(published.map(([name]) => name)).toEqual(["handled", "unhandled", "unhandled"]);
  });

  it("fails with all errors of the handlers, which run at the same time", async () => {
    const reasons = [new Error("one"), new Error("two")];
    const gate = createGate();
    const late = () => gate.opened.then(nextTurn).then(() => Promise.reject(reasons[0]));
    const failed = dispatchTo([late, () => (gate.open(), Promise.reject(reasons[1]))]);
    await expect(failed).rejects.toHaveProperty("cause.errors", reasons);
  });

  it("aborts the signal and fails after timeoutMs", async () => {
    let signal!: AbortSignal;
    let fail!: (error: Error) => void;
    const handler: AnyHandler = (_event, given) => {
      ({ signal } = given);
      return new Promise((_resolve, reject) => (fail = reject));
    };
    await expect(dispatchTo([handler], 15)).rejects.toThrow(" 15 ms");
    expect(signal.reason).toHaveProperty("code", "HANDLER_TIMEOUT");
    // A late failure is no unhandled rejection.
    fail(new Error("late"));
    await nextTurn();
  });

  it("does not abort the signal and leaves no timer when the handlers end in time", async () => {
    jest.useFakeTimers();
    let signal: AbortSignal | undefined;
    await dispatchTo([async (_event, given) => void (signal = given.signal)]);
    expect(jest.getTimerCount()).toBe(0);
    const timers = jest.spyOn(globalThis, "setTimeout");
    for (const result of [undefined, null, "text"]) await dispatchTo([() => result]);
    expect(timers).not.toHaveBeenCalled();
    jest.useRealTimers();
    expect(signal?.aborted).toBe(false);
  });

  it("awaits a value with a then, such as a query of some libraries", async () => {
    const reason = new Error("rejected");
    const reject = (_resolve: unknown, fail: (error: Error) => void) => fail(reason);
    // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
    const query = { then: reject };
    for (const result of [query, Object.assign(() => {}, query)])
      await expect(dispatchTo([() => result])).rejects.toHaveProperty("cause", reason);
  });

  const durationMs: unknown = expect.any(Number);
  it.each<[string, type: string, more: object]>([
    ["handled", "challenge.approved", { attempt: 3, durationMs }],
    ["failed", "challenge.denied", { attempt: 3, durationMs, code: "HANDLER_FAILED" }],
    ["unhandled", "factor.created", {}],
    ["unhandled", "factor.suspended", {}],
  ])("publishes and logs an event that was %s: %s", async (result, type, more) => {
    const [warn, error, onError] = [jest.fn(), jest.fn(), jest.fn()];
    const push = pushWebhooks({ ...options, logger: { ...silent, warn, error } })
      .on("challenge.approved", noop)
      .on("challenge.denied", () => Promise.reject(new Error("no")))
      .onError(onError);
    const run = { ...context, receiver: "worker" };
    const dispatched = push.dispatch({ ...event, type } as PushEvent, run);
    expect(await dispatched.catch(Object)).toEqual(result === "failed" ? FAILED : undefined);
    expect(published).toEqual([[result, { type, ...more }]]);
    const about = { type, uuid: event.uuid };
    const logged = [{ receiver: "login", ...about }, expect.any(String)];
    expect(warn.mock.calls).toEqual(result === "unhandled" ? [logged] : []);
    const failed = { ...about, attempt: 3, receiver: "worker", err: FAILED };
    const line = [{ ...failed, code: "HANDLER_FAILED" }, expect.any(String)];
    expect(error.mock.calls).toEqual(result === "failed" ? [line] : []);
    const failure = [FAILED, expect.objectContaining({ type })];
    expect(onError.mock.calls).toEqual(result === "failed" ? [failure] : []);
  });
});

it.each([undefined, { ...event, params: 1 }, { ...event, type: "" }])(
  "push.dispatch rejects %j, which is no event",
  (value) => expect(pushWebhooks(options).dispatch(value as never)).rejects.toThrow(TypeError),
);
