import type { ChallengeOutcomes } from "./challenges";
import type { DeliverOnce, Delivery } from "./dedupe";
import { publish } from "./diagnostics";
import type { Dispatch } from "./dispatch";
import type { WebhookError } from "./errors";
import type { EventQueue, QueuedCall } from "./queue";
import type { Reports } from "./reports";

/** Hands an event over; resolves once it is decided whether anything is to be done about it. */
export type Deliver = (call: QueuedCall) => Promise<Delivery>;

/** Makes the step that runs an event's handlers now. */
export function createDeliverNow(
  deliverOnce: DeliverOnce,
  handle: Dispatch,
  challenges: ChallengeOutcomes,
): Deliver {
  return async function deliverNow(call) {
    const { event, authTokenIndex } = call;
    // Before the handlers, which may change the event.
    const record = challenges.prepare(event);
    const delivery = await deliverOnce(call, () => handle(event, { attempt: 1, authTokenIndex }));
    // The outcome of a challenge is that of the first call of its uuid, of no other content.
    if (delivery.outcome !== "conflict") record();
    return delivery;
  };
}

/** Makes the step that stores an event, for handlers to run later. */
export function createDeliverLater(queue: EventQueue): Deliver {
  return async function deliverLater(call) {
    const startMs = performance.now();
    const outcome = await queue.store(call);
    const { type } = call.event;
    if (outcome === "new") publish("stored", { type, durationMs: performance.now() - startMs });
    return { outcome, done: Promise.resolve() };
  };
}

/** Makes the dispatch that tells of what became of an event. */
export function createHandle(dispatch: Dispatch, reports: Reports): Dispatch {
  return async function handle(event, context) {
    const startMs = performance.now();
    const describeRun = () => ({
      type: event.type,
      attempt: context.attempt,
      durationMs: performance.now() - startMs,
    });
    try {
      await dispatch(event, context);
    } catch (error) {
      const failure = error as WebhookError;
      publish("failed", { ...describeRun(), code: failure.code });
      reports.error(failure, event);
      throw failure;
    }
    publish("handled", describeRun());
  };
}
