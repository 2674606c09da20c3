import type { DeliverOnce, Delivery } from "./deliver-once";
import type { Dispatch } from "./dispatch";
import { publish } from "../observability/diagnostics";
import { isChallengeEvent } from "../event/event";
import type { OutcomeStore } from "../challenge/outcome-store";
import type { EventQueue, QueuedEvent } from "./event-queue";

/** Delivers an event; resolves when it is decided whether its handlers run. */
export type Deliver = (queued: QueuedEvent, deadlineAtMs: number) => Promise<Delivery>;

/** Reserved for the completion mark when the handlers run until the deadline. */
const MARK_RESERVE_MS = 500;
/** How long a completion mark is retried when no response waits for it. */
const MARK_LIMIT_MS = 8_000;

/** When to respond, and how long handlers may run: options of the receiver. */
export interface HandlerTiming {
  acknowledge: "after" | "before";
  handlerTimeoutMs: number;
}

/** Creates the step that runs the handlers of an event now, once, after its outcome is recorded. */
export function createDeliverNow(
  { acknowledge, handlerTimeoutMs }: HandlerTiming,
  deliverOnce: DeliverOnce,
  outcomes: OutcomeStore,
  dispatch: Dispatch,
): Deliver {
  // Handlers that no response awaits may go on after the deadline.
  const afterDeadlineMs = acknowledge === "before" ? handlerTimeoutMs + MARK_LIMIT_MS : 0;

  return function deliverNow(queued, deadlineAtMs) {
    const { account, event, authTokenIndex, publicUrlIndex, receiver } = queued;
    const finishAtMs = deadlineAtMs + afterDeadlineMs;
    const start = () => {
      const leftMs = deadlineAtMs - performance.now() - MARK_RESERVE_MS;
      const timeoutMs =
        acknowledge === "after"
          ? Math.max(Math.min(handlerTimeoutMs, leftMs), 1)
          : handlerTimeoutMs;
      return dispatch(event, { attempt: 1, authTokenIndex, publicUrlIndex, receiver }, timeoutMs);
    };
    const recordThenStart = () => {
      // Only the first delivery of a uuid: a replay must not record an outcome again that has expired.
      const recorded = isChallengeEvent(event) ? outcomes.record(account, event) : undefined;
      return recorded === undefined ? start() : recorded.then(start);
    };
    return deliverOnce(queued, recordThenStart, deadlineAtMs, finishAtMs);
  };
}

/** Creates the step that stores an event, so that its handlers run later. */
export function createDeliverLater(queue: EventQueue): Deliver {
  return async function deliverLater(queued, deadlineAtMs) {
    const startMs = performance.now();
    const result = await queue.store(queued, deadlineAtMs);
    const { type } = queued.event;
    if (result === "new") publish("stored", { type, durationMs: performance.now() - startMs });
    return { result, finished: Promise.resolve() };
  };
}
