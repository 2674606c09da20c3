import { CLOSE_RULES, settleWithin } from "../time/close-options";
import { validateOptions } from "../validation/validate-options";
import type { EventWorker } from "./durable-queue";

/**
 * Creates the worker that `queue.work` returns.
 *
 * @param finish takes no more events and awaits the running handlers; called once.
 * @param end called when these have finished or the deadline has passed.
 */
export function createEventWorker(finish: () => Promise<void>, end?: () => void): EventWorker {
  let finished: Promise<void> | undefined;
  const worker: EventWorker = {
    close(options = {}) {
      validateOptions("close", options, CLOSE_RULES);
      finished ??= settleWithin(finish(), options).finally(end);
      return finished;
    },
    [Symbol.asyncDispose]: () => worker.close(),
  };
  return worker;
}
