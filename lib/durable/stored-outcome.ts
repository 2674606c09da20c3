import { isChallengeEvent, type ChallengeEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import type { Pair } from "../form/form";
import type { Waiters } from "../memory/waiters";
import type { Logger } from "../observability/logger";

/** Parses the outcome of a challenge as an engine stores it; returns undefined for another value. */
export function parseStoredOutcome(params: string): ChallengeEvent | undefined {
  try {
    const event = parseEvent(JSON.parse(params) as Pair[]);
    return isChallengeEvent(event) ? event : undefined;
  } catch {
    // The error may quote the value.
    return undefined;
  }
}

/**
 * Creates the function that resolves the waits for an outcome as it is stored. It reports an
 * unreadable one, to the logger or else as a process warning; once, because the value may be read
 * many times.
 *
 * @param place where the outcome is stored, for the message.
 */
export function createResolveStored(
  waiters: Waiters,
  place: string,
  logger: Logger | undefined,
): (key: string, params: string) => void {
  let hasWarned = false;
  return function resolveStored(key, params) {
    const event = parseStoredOutcome(params);
    if (event !== undefined) {
      waiters.resolve(key, event);
      return;
    }
    if (hasWarned) return;
    hasWarned = true;
    const message = `An outcome in ${place} is unreadable; the wait for it continues.`;
    const code = "OUTCOME_UNREADABLE";
    if (logger !== undefined) logger.error({ code }, message);
    else process.emitWarning(message, { type: "PushWebhooksWarning", code });
  };
}
