import type { DeliverOnce, Delivery } from "./deliver-once";
import { publish } from "../observability/diagnostics";
import { isChallengeEvent } from "../event/event";
import type { OutcomeStore } from "../challenge/outcome-store";
import type { EventQueue, QueuedEvent } from "./event-queue";

/** Delivers an event; resolves when it is decided whether its handlers run. */
export type Deliver = (queued: QueuedEvent, deadlineAtMs: number) => Promise<Delivery>;

/**
 * Creates the step that runs the handlers of an event now.
 *
 * @param afterDeadlineMs how long handlers that no response awaits may go on after the deadline.
 */
export function createDeliverNow(
  deliverOnce: DeliverOnce,
  outcomes: OutcomeStore,
  run: (queued: QueuedEvent, deadlineAtMs: number) => Promise<void>,
  afterDeadlineMs = 0,
): Deliver {
  return function deliverNow(queued, deadlineAtMs) {
    const { account, event } = queued;
    const finishAtMs = deadlineAtMs + afterDeadlineMs;
    const start = () => run(queued, deadlineAtMs);
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
