import type { Confirm } from "./confirmation";
import { suggestName } from "../../kit/validate-options";
import { isPushEventType, PUSH_EVENT_TYPES } from "../event/event";
import type {
  PushEvent,
  PushEventOf,
  PushEventType,
  UnknownPushEvent,
  AnyEvent,
} from "../event/event";

/** The second argument of a handler. */
export interface HandlerContext {
  /** Aborts when the handlers of this event run longer than `handlerTimeoutMs`. */
  signal: AbortSignal;
  /** The number of this run, from 1. Above 1 only if a queue runs the handlers again. */
  attempt: number;
  /** The index of the token that signed the request. Above 0, an older token is still in use. */
  authTokenIndex: number;
  /** The index of the publicUrl that was signed. Above 0, an older URL is still configured. */
  publicUrlIndex: number;
  /** The option `name` of the receiver that authenticated the request. */
  receiver: string | undefined;
}

/** Handles an event; its result is awaited and otherwise ignored. */
export type Handler<Event> = (event: Event, context: HandlerContext) => unknown;

/** A handler of every event, including unknown types. */
export type AnyHandler = Handler<PushEvent | UnknownPushEvent>;

/** Registers handlers. The methods return their object, so that calls can be chained. */
export interface HandlerRegistration<Self> {
  /**
   * Adds a handler of one type of event or of several. The handlers of an event run concurrently,
   * each once. A handler that throws or rejects fails the webhook request. A handler that is
   * already registered for the type is not added again.
   *
   * @throws TypeError for a type that does not exist, `"*"` included: use `onAny`.
   */
  on<Type extends PushEventType>(
    types: Type | readonly Type[],
    handler: Handler<PushEventOf<Type>>,
  ): Self;
  /** Removes a handler from one type of event or from several. */
  off<Type extends PushEventType>(
    types: Type | readonly Type[],
    handler: Handler<PushEventOf<Type>>,
  ): Self;
  /**
   * Adds a handler of every event, including unknown types. An event without a handler of its type
   * still reaches `onUnhandled`.
   */
  onAny(handler: AnyHandler): Self;
  /** Adds a handler of the events without a handler of their type, including unknown types. */
  onUnhandled(handler: AnyHandler): Self;
  /**
   * Returns the types of event that currently have a handler: with `onAny` all of them, and the
   * types of challenges once `waitForChallenge` was called.
   */
  handledTypes(): PushEventType[];
}

/** Handlers that receivers and workers share; see {@link createHandlers}. */
export interface Handlers extends HandlerRegistration<Handlers> {}

interface Registry {
  handlersByType: Map<PushEventType, Set<AnyHandler>>;
  anyHandlers: Set<AnyHandler>;
  unhandledHandlers: Set<AnyHandler>;
  hasWaits: boolean;
  /** The option `confirm` of receivers with a queue, by their names. */
  confirms: Map<string | undefined, Confirm>;
}

// Not a property, so that an app cannot call it and a copy of the object has none.
const registries = new WeakMap<object, Registry>();

/**
 * Creates a registry of handlers without a receiver. Pass it to `pushWebhooks({ handlers })` and to
 * `queue.work(handlers)`: a worker needs neither a token nor a URL.
 */
export function createHandlers(): Handlers {
  const handlersByType: Registry["handlersByType"] = new Map();
  const anyHandlers = new Set<AnyHandler>();
  const unhandledHandlers = new Set<AnyHandler>();

  const handlers: Handlers = {
    on(types, handler) {
      assertFunction("on", handler);
      for (const type of listTypes("on", types)) {
        const handlersOfType = handlersByType.get(type) ?? new Set();
        handlersByType.set(type, handlersOfType);
        handlersOfType.add(handler as AnyHandler);
      }
      return handlers;
    },
    off(types, handler) {
      for (const type of listTypes("off", types)) {
        handlersByType.get(type)?.delete(handler as AnyHandler);
      }
      return handlers;
    },
    onAny(handler) {
      assertFunction("onAny", handler);
      anyHandlers.add(handler);
      return handlers;
    },
    onUnhandled(handler) {
      assertFunction("onUnhandled", handler);
      unhandledHandlers.add(handler);
      return handlers;
    },
    handledTypes: () =>
      PUSH_EVENT_TYPES.filter(
        (type) =>
          anyHandlers.size > 0 ||
          (handlersByType.get(type)?.size ?? 0) > 0 ||
          isWaitedFor(registry, type),
      ),
  };

  const confirms: Registry["confirms"] = new Map();
  const registry = { handlersByType, anyHandlers, unhandledHandlers, confirms, hasWaits: false };
  registries.set(handlers, registry);
  return handlers;
}

/** Returns whether {@link createHandlers} returned a value. */
export function isHandlers(value: unknown): value is Handlers {
  return typeof value === "object" && value !== null && registries.has(value);
}

/** Selects the handlers of an event, each once; `isHandled`: it has one, or a login waits for it. */
export function selectHandlers(handlers: Handlers, { type }: AnyEvent) {
  const registry = registryOf(handlers);
  const { handlersByType, anyHandlers, unhandledHandlers } = registry;
  const own = handlersByType.get(type as PushEventType);
  const chosen = own !== undefined && own.size > 0 ? own : unhandledHandlers;
  const all = anyHandlers.size === 0 ? [...chosen] : [...new Set([...chosen, ...anyHandlers])];
  return { handlers: all, isHandled: all.length > 0 || isWaitedFor(registry, type) };
}

/** Notes that a receiver waits for challenges: from then on, their events have a handler. */
export function noteWait(handlers: Handlers): void {
  registryOf(handlers).hasWaits = true;
}

function isWaitedFor({ hasWaits }: Registry, type: string): boolean {
  return hasWaits && (type === "challenge.approved" || type === "challenge.denied");
}

/**
 * Keeps the `confirm` of a receiver with a queue, for the workers of this process.
 *
 * @throws TypeError when another receiver of this name has another one.
 */
export function setConfirm(
  handlers: Handlers,
  receiver: string | undefined,
  confirm: Confirm,
): void {
  const { confirms } = registryOf(handlers);
  if ((confirms.get(receiver) ?? confirm) !== confirm) {
    throw new TypeError(
      "pushWebhooks: another receiver with these handlers and this name has another option confirm. Pass the same function, or give each receiver a name.",
    );
  }
  confirms.set(receiver, confirm);
}

/** Returns the `confirm` of the receiver of this name; see {@link setConfirm}. */
export function findConfirm(handlers: Handlers, receiver: string | undefined): Confirm | undefined {
  return registryOf(handlers).confirms.get(receiver);
}

/** Returns whether there is no handler. */
export function areHandlersEmpty(handlers: Handlers): boolean {
  return handlers.handledTypes().length === 0 && registryOf(handlers).unhandledHandlers.size === 0;
}

function registryOf(handlers: Handlers): Registry {
  const registry = registries.get(handlers);
  if (registry === undefined) {
    throw new TypeError("handlers must be an object that createHandlers() returned.");
  }
  return registry;
}

function listTypes(method: string, types: PushEventType | readonly PushEventType[]) {
  const list: readonly PushEventType[] = Array.isArray(types) ? types : [types];
  if (list.length === 0)
    throw new TypeError(`${method}: the list of event types must not be empty.`);
  for (const type of list) {
    if (isPushEventType(type)) continue;
    const name = String(type);
    const hint = name === "*" ? " Use onAny for every event." : suggestName(name, PUSH_EVENT_TYPES);
    throw new TypeError(
      `${method}: type must be an event type; received ${JSON.stringify(type)}.${hint} The types are: ${PUSH_EVENT_TYPES.join(", ")}; events of other types reach onUnhandled.`,
    );
  }
  return list;
}

function assertFunction(method: string, handler: unknown): void {
  if (typeof handler === "function") return;
  throw new TypeError(`${method}: the handler must be a function; received ${typeof handler}.`);
}
