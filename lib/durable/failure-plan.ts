import { pauseAfter } from "../kit/backoff";
import { toAsciiJson } from "../kit/text";
import { MAX_TIMER_MS } from "../kit/validate-options";
import type { Backoff, QueueSettings } from "./queue-options";
import type { RunFailure } from "./runner";
import type { FailedRun, Run } from "./storage";
import { addFailure } from "./stored-event";

/**
 * Plans another run of an event after a failed one, or a dead letter.
 *
 * @param failures how often its handlers have failed, this run included.
 * @param errors of its former failures, as `addFailure` writes them.
 */
export function planFailure(
  { attempts, backoff }: QueueSettings,
  failure: RunFailure,
  failures: number,
  errors: string | null,
): Omit<FailedRun, keyof Run> {
  const isDead = failure.isPermanent || failures >= attempts;
  const pauseMs = isDead ? undefined : pauseOf(backoff, failures);
  return {
    failures,
    errors: addFailure(errors, failure),
    failure: toAsciiJson(failure.masked),
    person: failure.person,
    pauseMs,
    isForged: isDead && failure.isForged,
  };
}

/** Returns the pause after so many failures, in milliseconds. */
function pauseOf({ type, delayMs, jitter = 0 }: Backoff, failures: number): number {
  const longestMs = type === "fixed" ? delayMs : MAX_TIMER_MS;
  return pauseAfter(failures, { firstMs: delayMs, longestMs, jitter });
}
