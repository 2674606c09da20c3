import { createHandlers, PUSH_EVENT_TYPES, type PushEventType } from "express-push-verification";
import { areHandlersEmpty, isHandlers, selectHandlers } from "../../lib/delivery/handler-registry";
import { parseEvent } from "../../lib/event/parse";
import { eventPairs } from "../support/webhook-requests";

/** A TypeError that names the method that was called. */
const typeErrorOf = (method: string) =>
  expect.objectContaining({
    name: "TypeError",
    message: expect.stringMatching(new RegExp(`^${method}: `)),
  }) as Error;
const eventOf = (type: string) => parseEvent(eventPairs(type));

describe("createHandlers", () => {
  it("selects the handlers of the type, then onAny, each once, in the order of registration", () => {
    const [a, b, c, other] = [jest.fn(), jest.fn(), jest.fn(), jest.fn()];
    const handlers = createHandlers()
      .on("challenge.approved", a)
      .on(["challenge.approved", "challenge.denied"], b)
      .onAny(c)
      .onAny(a)
      .on("factor.created", other)
      .onUnhandled(other);
    const select = (type: string) => selectHandlers(handlers, eventOf(type));
    expect(select("challenge.approved")).toEqual({ handlers: [a, b, c], isHandled: true });
    expect(select("challenge.denied")).toEqual({ handlers: [b, c, a], isHandled: true });
  });

  it("selects onUnhandled for types without a handler of their own, with and without onAny", () => {
    const [handler, unhandled, any] = [jest.fn(), jest.fn(), jest.fn()];
    const handlers = createHandlers().on("challenge.approved", handler).onUnhandled(unhandled);
    handlers.onAny(any);
    for (const type of ["challenge.denied", "challenge.expired", "toString"]) {
      expect(selectHandlers(handlers, eventOf(type)).handlers).toEqual([unhandled, any]);
    }
    expect(selectHandlers(handlers, eventOf("challenge.approved")).handlers).toEqual([
      handler,
      any,
    ]);
  });

  it("does not count an event as handled if only onAny receives it", () => {
    const handlers = createHandlers().onAny(() => {});
    expect(selectHandlers(handlers, eventOf("factor.created"))).toMatchObject({ isHandled: false });
  });

  it("lists the types that have a handler: all of them with onAny", () => {
    const handlers = createHandlers();
    expect(handlers.handledTypes()).toEqual([]);
    handlers.on(["challenge.denied", "factor.created"], () => {});
    handlers.onUnhandled(() => {});
    expect(handlers.handledTypes()).toEqual(["factor.created", "challenge.denied"]);
    expect(handlers.onAny(() => {}).handledTypes()).toEqual(PUSH_EVENT_TYPES);
  });

  it("removes a handler from the given types", () => {
    const handler = jest.fn();
    const handlers = createHandlers().on(["challenge.approved", "challenge.denied"], handler);
    handlers.off("challenge.approved", handler).off("factor.created", handler);
    expect(selectHandlers(handlers, eventOf("challenge.approved")).handlers).toEqual([]);
    expect(selectHandlers(handlers, eventOf("challenge.denied")).handlers).toEqual([handler]);
  });

  it.each([
    ["challenge.aproved", `"challenge.approved"?`],
    ["Factor.Created", `"factor.created"?`],
    ["*", "onAny"],
  ])("rejects the type %s and suggests %s", (type, hint) => {
    expect(() => createHandlers().on(type as PushEventType, () => {})).toThrow(
      expect.objectContaining({ name: "TypeError", message: expect.stringContaining(hint) }),
    );
  });

  it.each([undefined, null, 5, {}, "", ["factor.created", "x"]])(
    "rejects the types %j",
    (types) => {
      const handlers = createHandlers();
      expect(() => handlers.on(types as PushEventType, () => {})).toThrow(typeErrorOf("on"));
      expect(() => handlers.off(types as PushEventType, () => {})).toThrow(typeErrorOf("off"));
      expect(areHandlersEmpty(handlers)).toBe(true);
    },
  );

  it.each([undefined, null, "handler", {}])("rejects the handler %j", (handler) => {
    const handlers = createHandlers();
    expect(() => handlers.on("factor.created", handler as never)).toThrow(typeErrorOf("on"));
    expect(() => handlers.onAny(handler as never)).toThrow(typeErrorOf("onAny"));
    expect(() => handlers.onUnhandled(handler as never)).toThrow(typeErrorOf("onUnhandled"));
  });

  it("is empty until a handler of any kind is registered", () => {
    const noop = () => {};
    expect(areHandlersEmpty(createHandlers())).toBe(true);
    for (const handlers of [
      createHandlers().on("factor.created", noop),
      createHandlers().onAny(noop),
      createHandlers().onUnhandled(noop),
    ]) {
      expect(areHandlersEmpty(handlers)).toBe(false);
    }
  });

  it("recognises what createHandlers returns, and no copy of it", () => {
    const handlers = createHandlers();
    expect(isHandlers(handlers)).toBe(true);
    for (const value of [{ ...handlers }, {}, null, undefined, () => {}]) {
      expect(isHandlers(value)).toBe(false);
    }
    expect(() => areHandlersEmpty({ ...handlers })).toThrow(TypeError);
  });
});
