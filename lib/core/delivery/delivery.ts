import { createConfirmation, type Confirm } from "./confirmation";
import { Deduplication, NO_DEDUPLICATION, type Acceptance, type Acceptor } from "./dedupe";
import type { DedupeStore } from "./dedupe-store";
import { createDispatch, type Dispatch, type RunContext } from "./dispatch";
import { publish } from "../observability/diagnostics";
import { isChallengeEvent } from "../event/event";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { describeOutage, type Health } from "../../kit/health";
import type { Reporter } from "../observability/reporter";
import { andThen } from "../../kit/pending";
import { isText } from "../../kit/validate-options";
import { setConfirm, type Handlers } from "./handler-registry";
import { toOutcome } from "./outcome";
import type { OutcomeStore } from "./outcome-store";
import type { EventQueue, QueuedEvent } from "./event-queue";
import { createRequestRetry } from "./retry-request";

type Accept = (queued: QueuedEvent, deadlineAtMs: number) => Acceptance | Promise<Acceptance>;

/** Reserved for the completion mark when the handlers run until the deadline. */
const MARK_RESERVE_MS = 500;
/** How long a completion mark is retried when no response waits for it. */
const MARK_LIMIT_MS = 8_000;

/** The options of a receiver that decide how it delivers events. */
interface DeliverySettings {
  name?: string | undefined;
  acknowledge: "after" | "before";
  deadlineMs: number;
  handlerTimeoutMs: number;
  queue?: EventQueue | undefined;
  dedupe: DedupeStore | false;
  confirm?: Confirm | undefined;
}

/**
 * Creates the delivery of a receiver: of webhook requests into the queue if there is one, else to
 * the handlers, and of the events of `push.dispatch`.
 *
 * @param accountOf see {@link AccountScope}.
 */
export function createDelivery(
  settings: DeliverySettings,
  handlers: Handlers,
  outcomes: OutcomeStore,
  accountOf: (accountSid: string) => string,
  reports: Reporter,
) {
  const { name, deadlineMs, handlerTimeoutMs, queue, dedupe, confirm } = settings;
  if (queue !== undefined && confirm !== undefined) setConfirm(handlers, name, confirm);
  const dispatchToHandlers = createDispatch(handlers, reports);
  const retryRecord = createRequestRetry();

  const acceptor =
    dedupe === false
      ? NO_DEDUPLICATION
      : new Deduplication(dedupe, (error) => reports.error(error));

  return {
    accept:
      queue === undefined
        ? createAcceptNow(settings, acceptor, outcomes, dispatchToHandlers)
        : createAcceptLater(queue),
    /** Records the outcome of an event, which wakes the waits for it, and runs its handlers. */
    async dispatch(
      event: PushEvent | UnknownPushEvent,
      context: Partial<RunContext> = {},
    ): Promise<void> {
      const { type, params } = Object(event) as Partial<Record<"type" | "params", unknown>>;
      if (!isText(type) || !Array.isArray(params)) {
        throw new TypeError(
          'push.dispatch: event must be an event, as a handler receives it. Pass the result of verifyPushRequest, of parsePushEvent, or of eventFixture of "express-push-verification/testing".',
        );
      }
      if (isChallengeEvent(event)) {
        // Retrying omits the arguments that Redis adds to its errors: they contain the event.
        const record = () => outcomes.record(accountOf(event.account_sid), toOutcome(event));
        await retryRecord(record, performance.now() + deadlineMs);
      }
      const { attempt = 1, authTokenIndex = 0, publicUrlIndex = 0, receiver = name } = context;
      const runContext = { attempt, authTokenIndex, publicUrlIndex, receiver };
      await dispatchToHandlers(event, runContext, handlerTimeoutMs);
    },
    /** Returns the health of the queue, or of the dedupe store. */
    async health(): Promise<Health> {
      if (queue?.health !== undefined) return queue.health();
      const { outage } = acceptor;
      return outage === undefined ? { status: "healthy" } : describeOutage(outage);
    },
  };
}

/** Creates the step that confirms an event, records its outcome and runs its handlers now, once. */
function createAcceptNow(
  { acknowledge, handlerTimeoutMs, confirm }: DeliverySettings,
  acceptor: Acceptor,
  outcomes: OutcomeStore,
  dispatch: Dispatch,
): Accept {
  // Handlers that no response awaits may go on after the deadline.
  const afterDeadlineMs = acknowledge === "before" ? handlerTimeoutMs + MARK_LIMIT_MS : 0;
  const confirmUntil = confirm && createConfirmation(confirm);

  return function acceptNow(queued, deadlineAtMs) {
    const { authenticatedAccount, event, authTokenIndex, publicUrlIndex, receiver } = queued;
    const markAtMs = deadlineAtMs - MARK_RESERVE_MS;

    function run() {
      // Only the first delivery of a uuid: a replay must not record an outcome again that has expired.
      const recorded = isChallengeEvent(event)
        ? outcomes.record(authenticatedAccount, toOutcome(event))
        : undefined;
      return andThen(recorded, () => {
        const timeoutMs =
          acknowledge === "after"
            ? Math.max(Math.min(handlerTimeoutMs, markAtMs - performance.now()), 1)
            : handlerTimeoutMs;
        const context = { attempt: 1, authTokenIndex, publicUrlIndex, receiver };
        return dispatch(event, context, timeoutMs);
      });
    }

    const confirmEvent =
      confirmUntil !== undefined && queued.needsConfirmation === true
        ? () => confirmUntil(event, queued.ambiguity, markAtMs)
        : undefined;
    const finishAtMs = deadlineAtMs + afterDeadlineMs;
    return acceptor.accept(queued, { confirm: confirmEvent, run, deadlineAtMs, finishAtMs });
  };
}

/** Creates the step that stores an event, so that its handlers run later. */
function createAcceptLater(queue: EventQueue): Accept {
  return async function acceptLater(queued, deadlineAtMs) {
    const startMs = performance.now();
    const result = await queue.store(queued, deadlineAtMs);
    if (result === "new") {
      const { type } = queued.event;
      publish("stored", () => ({ type, durationMs: performance.now() - startMs }));
    }
    return { result, finished: undefined };
  };
}
