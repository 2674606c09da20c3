import { WebhookError } from "./errors";
import { suggestName } from "./option-rules";
import { isPushEventType, PUSH_EVENT_TYPES } from "./event";
import type { PushEvent, PushEventOf, PushEventType, UnknownPushEvent } from "./event";

/** What a handler gets beside the event. */
export interface HandlerContext {
  /** Aborted when the handlers of this event have taken longer than `handlerTimeoutMs`. */
  signal: AbortSignal;
  /** Which run of the handlers this is, from 1. Above 1 only where a queue runs them again. */
  attempt: number;
  /** Index of the token that the call was signed with: above 0, an older one is still in use. */
  authTokenIndex: number;
}

/** What is known of a call when its handlers are run. */
export type DispatchContext = Omit<HandlerContext, "signal">;

/** Runs the handlers of an event: now, or stored and later. Rejects when it could not. */
export type Dispatch = (
  event: PushEvent | UnknownPushEvent,
  context: DispatchContext,
) => Promise<void>;

/** A type of event, or `"*"` for all of them. */
export type HandledType = PushEventType | "*";

/** The event that a handler of these types gets. */
export type HandledEvent<Type extends HandledType> = Type extends PushEventType
  ? PushEventOf<Type>
  : PushEvent;

/** Handles events; what it returns is awaited and otherwise ignored. */
export type Handler<Event> = (event: Event, context: HandlerContext) => unknown;

type AnyHandler = Handler<PushEvent>;
type UnhandledHandler = Handler<PushEvent | UnknownPushEvent>;

/** Who handles which type of event. */
export interface HandlerRegistry {
  on<Type extends HandledType>(
    types: Type | readonly Type[],
    handler: Handler<HandledEvent<Type>>,
  ): void;
  off<Type extends HandledType>(
    types: Type | readonly Type[],
    handler: Handler<HandledEvent<Type>>,
  ): void;
  onUnhandled(handler: UnhandledHandler): void;
  /** The known types that have a handler, of their own or by `"*"`. */
  listHandledTypes(): PushEventType[];
  /** The handlers of an event, each once: those of its type and of `"*"`, else the unhandled. */
  listHandlers(event: PushEvent | UnknownPushEvent): UnhandledHandler[];
}

/** Makes an empty registry. Its methods throw a TypeError for a type that does not exist. */
export function createHandlerRegistry(): HandlerRegistry {
  const handlersByType = new Map<HandledType, Set<AnyHandler>>();
  const unhandled = new Set<UnhandledHandler>();

  function handlersOf(type: HandledType): Set<AnyHandler> {
    const handlers = handlersByType.get(type) ?? new Set();
    handlersByType.set(type, handlers);
    return handlers;
  }

  return {
    on(types, handler) {
      assertFunction("on", handler);
      // The registry calls a handler only with events of the types that it was registered for.
      for (const type of listTypes("on", types)) handlersOf(type).add(handler as AnyHandler);
    },
    off(types, handler) {
      for (const type of listTypes("off", types)) handlersOf(type).delete(handler as AnyHandler);
    },
    onUnhandled(handler) {
      assertFunction("onUnhandled", handler);
      unhandled.add(handler);
    },
    listHandledTypes() {
      return PUSH_EVENT_TYPES.filter((type) => handlersOf(type).size + handlersOf("*").size > 0);
    },
    listHandlers(event) {
      if (!isPushEventType(event.type)) return [...unhandled];
      const handlers = new Set([...handlersOf(event.type), ...handlersOf("*")]);
      return handlers.size > 0 ? ([...handlers] as UnhandledHandler[]) : [...unhandled];
    },
  };
}

/**
 * Makes the dispatch that runs an event's handlers now, all at once, and waits for all.
 *
 * @param timeoutMs after which the signal of the handlers is aborted and they are not waited for.
 * @throws WebhookError `HANDLER_FAILED` with what the handler threw as its cause (an
 *   AggregateError of several), `HANDLER_TIMEOUT`.
 */
export function createHandlerDispatch(registry: HandlerRegistry, timeoutMs: number): Dispatch {
  return async function dispatchToHandlers(event, context) {
    const handlers = registry.listHandlers(event);
    if (handlers.length === 0) return;

    const run = new HandlerRun(context);
    const results = handlers.map((handler): unknown => {
      try {
        return handler(event, run);
      } catch (error) {
        return Promise.reject(error);
      }
    });
    // Nothing to wait for, so there is nothing that takes too long.
    if (!results.some(mayBePending)) return;
    const timedOut = Symbol("timed out");
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<typeof timedOut>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, timedOut);
    });
    const outcome = await Promise.race([Promise.allSettled(results), expiry]);
    clearTimeout(timer);
    if (outcome === timedOut) {
      const error = new WebhookError(
        "HANDLER_TIMEOUT",
        `The handlers of this event took longer than handlerTimeoutMs, ${timeoutMs} ms.`,
      );
      run.abort(error);
      throw error;
    }
    throwFailures(outcome);
  };
}

/** The context of one run. */
class HandlerRun implements HandlerContext {
  readonly attempt: number;
  readonly authTokenIndex: number;
  declare readonly signal: AbortSignal;
  declare readonly timeout: { controller?: AbortController };

  constructor({ attempt, authTokenIndex }: DispatchContext) {
    this.attempt = attempt;
    this.authTokenIndex = authTokenIndex;
    Object.defineProperty(this, "signal", SIGNAL_PROPERTY);
    // Not enumerable, so that it is no part of a copy; an object, for a handler may freeze the run.
    Object.defineProperty(this, "timeout", { value: {} });
  }

  abort(reason: unknown): void {
    controllerOf(this).abort(reason);
  }
}

/**
 * One getter for all: an object with a getter of its own has a hidden class of its own, which keeps
 * all that the getter sees until the next major collection.
 */
const SIGNAL_PROPERTY: PropertyDescriptor & ThisType<HandlerRun> = {
  enumerable: true,
  get() {
    return controllerOf(this).signal;
  },
};

/** Made when it is asked for: few handlers do. */
function controllerOf({ timeout }: HandlerRun): AbortController {
  return (timeout.controller ??= new AbortController());
}

/** Whatever may have a `then`. */
function mayBePending(result: unknown): boolean {
  return (typeof result === "object" && result !== null) || typeof result === "function";
}

function throwFailures(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = outcomes.flatMap((outcome): unknown[] =>
    outcome.status === "rejected" ? [outcome.reason] : [],
  );
  if (reasons.length === 0) return;
  const cause = reasons.length === 1 ? reasons[0] : new AggregateError(reasons);
  throw new WebhookError("HANDLER_FAILED", "A handler of this event failed; see the cause.", {
    cause,
  });
}

function listTypes(
  method: string,
  types: HandledType | readonly HandledType[],
): readonly HandledType[] {
  const list: readonly HandledType[] = Array.isArray(types) ? types : [types];
  for (const type of list) {
    if (type === "*" || isPushEventType(type)) continue;
    throw new TypeError(
      `${method}: there is no event type ${JSON.stringify(type)}.${suggestName(String(type), PUSH_EVENT_TYPES)}` +
        ` The types are: ${PUSH_EVENT_TYPES.join(", ")}, "*"; others arrive at onUnhandled.`,
    );
  }
  return list;
}

function assertFunction(method: string, handler: unknown): void {
  if (typeof handler === "function") return;
  throw new TypeError(`${method}: the handler must be a function; got ${typeof handler}.`);
}
