import { createHandlers, type HandlerContext } from "express-push-verification";
import type { PushEvent } from "express-push-verification";
import { parseEvent } from "../../lib/event/parse";
import { runHandlers } from "../../lib/delivery/run-handlers";
import { eventPairs } from "../support/webhook-requests";

const context = { attempt: 1, authTokenIndex: 0, publicUrlIndex: 0, receiver: "login" };
const eventOf = (type: string) => parseEvent(eventPairs(type));

describe("runHandlers", () => {
  function dispatchTo(
    handlers: ((event: PushEvent, context: never) => unknown)[],
    timeoutMs = 1_000,
  ) {
    const registered = createHandlers();
    for (const handler of handlers) registered.on("challenge.approved", handler as () => unknown);
    return runHandlers(registered, eventOf("challenge.approved"), context, timeoutMs);
  }

  it("runs handlers at the same time and waits for all", async () => {
    const log: string[] = [];
    let release!: () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await dispatchTo([
      async () => {
        log.push("first in");
        await gate;
        log.push("first out");
      },
      () => {
        log.push("second");
        release();
      },
    ]);
    expect(log).toEqual(["first in", "second", "first out"]);
  });

  it("passes each the event and its context", async () => {
    const handler = jest.fn();
    await dispatchTo([handler]);
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ type: "challenge.approved" }), {
      ...context,
      signal: expect.any(AbortSignal),
    });
  });

  it("passes a context that can be spread and proxied", async () => {
    let spread: { signal?: AbortSignal } = {};
    let behind: AbortSignal | undefined;
    await dispatchTo([
      (_event, given: HandlerContext) => {
        spread = { ...given };
        behind = new Proxy(given, {}).signal;
        expect(Object.keys(given)).toEqual([
          "attempt",
          "authTokenIndex",
          "publicUrlIndex",
          "receiver",
          "signal",
        ]);
      },
    ]);
    expect(spread).toEqual({ ...context, signal: expect.any(AbortSignal) });
    expect(behind).toBe(spread.signal);
  });

  it.each([new Error("thrown"), "text", undefined])(
    "fails with the value that a handler throws as its cause: %p",
    async (reason) => {
      const others = jest.fn();
      const failed = dispatchTo([
        () => {
          throw reason;
        },
        others,
      ]);
      await expect(failed).rejects.toMatchObject({ code: "HANDLER_FAILED", status: 500 });
      await expect(failed).rejects.toHaveProperty("cause", reason);
      const refersToCause = reason === undefined ? /^((?!the cause).)*$/ : /see the cause/;
      await expect(failed).rejects.toThrow(refersToCause);
      expect(others).toHaveBeenCalled();
    },
  );

  it("fails once with all errors, after the last handler ends", async () => {
    const reasons = [new Error("one"), new Error("two")];
    let done = false;
    const failed = dispatchTo([
      () => Promise.reject(reasons[0]),
      async () => {
        await new Promise((resolve) => setImmediate(resolve));
        done = true;
        throw reasons[1];
      },
    ]);
    await expect(failed).rejects.toHaveProperty("cause.errors", reasons);
    expect(done).toBe(true);
  });

  it("aborts the signal and fails after timeoutMs", async () => {
    let signal: AbortSignal | undefined;
    let fail!: (error: Error) => void;
    const late = new Promise((_resolve, reject) => (fail = reject));
    const failed = dispatchTo(
      [
        (_event, given: { signal: AbortSignal }) => {
          signal = given.signal;
          return late;
        },
      ],
      15,
    );
    await expect(failed).rejects.toMatchObject({ code: "HANDLER_TIMEOUT", status: 500 });
    expect(signal?.reason).toMatchObject({ code: "HANDLER_TIMEOUT" });
    fail(new Error("late"));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it.each([Object.freeze, Object.seal, Object.preventExtensions])(
    "aborts the signal of a context that a handler hardened: %p",
    async (harden) => {
      let hardened: HandlerContext | undefined;
      const failed = dispatchTo(
        [(_event, given: HandlerContext) => new Promise(() => (hardened = harden(given)))],
        15,
      );
      await expect(failed).rejects.toHaveProperty("code", "HANDLER_TIMEOUT");
      expect(hardened?.signal.reason).toHaveProperty("code", "HANDLER_TIMEOUT");
    },
  );

  it("does not abort the signal and leaves no timer when the handlers end in time", async () => {
    jest.useFakeTimers();
    let signal: AbortSignal | undefined;
    await dispatchTo([(_event, given: { signal: AbortSignal }) => void (signal = given.signal)]);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
    expect(signal?.aborted).toBe(false);
  });

  it.each([undefined, null, 5, "text", true])(
    "sets no timer for handlers that return %j",
    async (result) => {
      const timers = jest.spyOn(globalThis, "setTimeout");
      await dispatchTo([() => result]);
      expect(timers).not.toHaveBeenCalled();
      timers.mockRestore();
    },
  );

  it("awaits a value with a then, such as a query of some libraries", async () => {
    const reason = new Error("rejected");
    const reject = (_resolve: unknown, fail: (error: Error) => void) => fail(reason);
    // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
    const query = { then: reject };
    for (const result of [query, Object.assign(() => {}, query)]) {
      await expect(dispatchTo([() => result])).rejects.toMatchObject({
        code: "HANDLER_FAILED",
        cause: reason,
      });
    }
  });

  it("returns at once without handlers", async () => {
    await expect(dispatchTo([])).resolves.toBe(false);
  });

  it("returns whether a handler of the type, or of onUnhandled, ran", async () => {
    const any = jest.fn();
    const handlers = createHandlers().onAny(any);
    const run = (type: string) => runHandlers(handlers, eventOf(type), context, 1_000);
    expect(await run("factor.created")).toBe(false);
    handlers.on("factor.created", () => {});
    expect(await run("factor.created")).toBe(true);
    expect(await run("factor.suspended")).toBe(false);
    handlers.onUnhandled(() => {});
    expect(await run("factor.suspended")).toBe(true);
    expect(any).toHaveBeenCalledTimes(4);
  });
});
