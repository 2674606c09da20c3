import { PUSH_EVENT_TYPES, type PushEvent } from "express-push-verification";
import { createHandlerDispatch, createHandlerRegistry } from "../lib/dispatch";
import type { HandlerContext } from "../lib/dispatch";
import { parsePayload } from "../lib/payload";
import { callParams } from "./support/calls";

const context = { attempt: 1, authTokenIndex: 0 };
/** A TypeError that names the method that was called. */
const typeErrorOf = (method: string) =>
  expect.objectContaining({
    name: "TypeError",
    message: expect.stringMatching(new RegExp(`^${method}: `)),
  }) as Error;
const eventOf = (type: string) => parsePayload(callParams(type));

describe("createHandlerRegistry", () => {
  it("lists the handlers of the type and of *, each once, in the order they came", () => {
    const registry = createHandlerRegistry();
    const [a, b, c, other] = [jest.fn(), jest.fn(), jest.fn(), jest.fn()];
    registry.on("challenge.approved", a);
    registry.on(["challenge.approved", "challenge.denied"], b);
    registry.on("*", c);
    registry.on("*", a);
    registry.on("factor.created", other);
    registry.onUnhandled(other);
    expect(registry.listHandlers(eventOf("challenge.approved"))).toEqual([a, b, c]);
    expect(registry.listHandlers(eventOf("challenge.denied"))).toEqual([b, c, a]);
  });

  it("lists the unhandled handlers for a known type without handlers, and for unknown types", () => {
    const registry = createHandlerRegistry();
    const [handler, unhandled] = [jest.fn(), jest.fn()];
    registry.on("challenge.approved", handler);
    registry.onUnhandled(unhandled);
    expect(registry.listHandlers(eventOf("challenge.denied"))).toEqual([unhandled]);
    registry.on("*", handler);
    expect(registry.listHandlers(eventOf("challenge.denied"))).toEqual([handler]);
    expect(registry.listHandlers(eventOf("challenge.expired"))).toEqual([unhandled]);
    expect(registry.listHandlers(eventOf("toString"))).toEqual([unhandled]);
  });

  it("lists the known types that have a handler, of their own or by *", () => {
    const registry = createHandlerRegistry();
    expect(registry.listHandledTypes()).toEqual([]);
    registry.on(["challenge.denied", "factor.created"], () => {});
    registry.onUnhandled(() => {});
    expect(registry.listHandledTypes()).toEqual(["factor.created", "challenge.denied"]);
    registry.on("*", () => {});
    expect(registry.listHandledTypes()).toEqual(PUSH_EVENT_TYPES);
  });

  it("removes a handler from the types that it is told", () => {
    const registry = createHandlerRegistry();
    const handler = jest.fn();
    registry.on(["challenge.approved", "challenge.denied"], handler);
    registry.off("challenge.approved", handler);
    registry.off("factor.created", handler);
    expect(registry.listHandlers(eventOf("challenge.approved"))).toEqual([]);
    expect(registry.listHandlers(eventOf("challenge.denied"))).toEqual([handler]);
  });

  it.each([
    ["challenge.aproved", "challenge.approved"],
    ["Factor.Created", "factor.created"],
  ])("refuses the type %s and suggests %s", (typed, meant) => {
    const registry = createHandlerRegistry();
    expect(() => registry.on(typed as "*", () => {})).toThrow(
      expect.objectContaining({
        name: "TypeError",
        message: expect.stringContaining(`"${meant}"?`),
      }),
    );
  });

  it.each([undefined, null, 5, {}, "", ["*", "x"]])("refuses the types %j", (types) => {
    const registry = createHandlerRegistry();
    expect(() => registry.on(types as "*", () => {})).toThrow(typeErrorOf("on"));
    expect(() => registry.off(types as "*", () => {})).toThrow(typeErrorOf("off"));
  });

  it("adds nothing when one of several types is refused", () => {
    const registry = createHandlerRegistry();
    expect(() => registry.on(["*", "x"] as unknown as "*", () => {})).toThrow(TypeError);
    expect(registry.listHandlers(eventOf("factor.created"))).toEqual([]);
  });

  it.each([undefined, null, "handler", {}])("refuses the handler %j", (handler) => {
    const registry = createHandlerRegistry();
    expect(() => registry.on("*", handler as never)).toThrow(typeErrorOf("on"));
    expect(() => registry.onUnhandled(handler as never)).toThrow(typeErrorOf("onUnhandled"));
  });
});

describe("createHandlerDispatch", () => {
  function dispatchTo(
    handlers: ((event: PushEvent, context: never) => unknown)[],
    timeoutMs = 1_000,
  ) {
    const registry = createHandlerRegistry();
    for (const handler of handlers) registry.on("*", handler as () => unknown);
    return createHandlerDispatch(registry, timeoutMs)(eventOf("challenge.approved"), context);
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

  it("gives each the event and its context", async () => {
    const handler = jest.fn();
    await dispatchTo([handler]);
    expect(handler).toHaveBeenCalledWith(expect.objectContaining({ type: "challenge.approved" }), {
      ...context,
      signal: expect.any(AbortSignal),
    });
  });

  it("gives a context that can be spread, or stand behind a proxy", async () => {
    let spread: { signal?: AbortSignal } = {};
    let behind: AbortSignal | undefined;
    await dispatchTo([
      (_event, given: HandlerContext) => {
        spread = { ...given };
        behind = new Proxy(given, {}).signal;
        expect(Object.keys(given)).toEqual(["attempt", "authTokenIndex", "signal"]);
      },
    ]);
    expect(spread).toEqual({ ...context, signal: expect.any(AbortSignal) });
    expect(behind).toBe(spread.signal);
  });

  it.each([new Error("thrown"), "text", undefined])(
    "fails with what a handler throws: %p",
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
      expect(others).toHaveBeenCalled();
    },
  );

  it("fails once with all that several throw, when the last is done", async () => {
    const reasons = [new Error("one"), new Error("two")];
    let done = false;
    const failed = dispatchTo([
      () => Promise.reject(reasons[0]),
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        done = true;
        throw reasons[1];
      },
    ]);
    await expect(failed).rejects.toHaveProperty("cause.errors", reasons);
    expect(done).toBe(true);
  });

  it("aborts the signal and fails after timeoutMs, whatever the handlers do later", async () => {
    let signal: AbortSignal | undefined;
    const failed = dispatchTo(
      [
        (_event, given: { signal: AbortSignal }) => {
          signal = given.signal;
          return new Promise((_resolve, reject) => setTimeout(reject, 40, new Error("late")));
        },
      ],
      15,
    );
    await expect(failed).rejects.toMatchObject({ code: "HANDLER_TIMEOUT", status: 500 });
    expect(signal?.reason).toMatchObject({ code: "HANDLER_TIMEOUT" });
    await new Promise((resolve) => setTimeout(resolve, 40));
  });

  it.each([Object.freeze, Object.seal, Object.preventExtensions])(
    "says so by the signal of a context that a handler hardened: %p",
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

  it("leaves the signal alone and no timer behind when the handlers are done in time", async () => {
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

  it("waits for whatever has a then, such as a query of some library", async () => {
    const reason = new Error("rejected");
    const reject = (_resolve: unknown, fail: (error: Error) => void) => fail(reason);
    // oxlint-disable-next-line unicorn/no-thenable -- what is tested
    const query = { then: reject };
    for (const result of [query, Object.assign(() => {}, query)]) {
      await expect(dispatchTo([() => result])).rejects.toMatchObject({
        code: "HANDLER_FAILED",
        cause: reason,
      });
    }
  });

  it("is done at once without handlers", async () => {
    await expect(dispatchTo([])).resolves.toBeUndefined();
  });
});
