import { setTimeout as sleep } from "node:timers/promises";
import { MAX_TIMER_MS, wholeNumber, type OptionRules } from "./option-rules";

/** How a receiver, a queue or a worker is closed. */
export interface CloseOptions {
  /** After how long running work is no longer awaited, in milliseconds. @default 10_000 */
  deadlineMs?: number | undefined;
}

/** The rules of {@link CloseOptions}. */
export const CLOSE_RULES: OptionRules<CloseOptions> = {
  deadlineMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
};

/** Waits for work, up to the deadline. */
export async function settleWithin(
  work: Promise<unknown>,
  { deadlineMs = 10_000 }: CloseOptions,
): Promise<void> {
  const deadline = new AbortController();
  const expired = sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {});
  await Promise.race([work, expired]);
  deadline.abort();
}
