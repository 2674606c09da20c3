import { setTimeout as sleep } from "node:timers/promises";
import { MAX_TIMER_MS, wholeNumber, type OptionRules } from "../validation/validate-options";

/** Options of `close` of a receiver, a queue or a worker. */
export interface CloseOptions {
  /** How long to await running work, in milliseconds. @default 10_000 */
  deadlineMs?: number | undefined;
}

/** The rules of {@link CloseOptions}. */
export const CLOSE_RULES: OptionRules<CloseOptions> = {
  deadlineMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
};

/** Awaits work until it settles or the deadline passes. Never rejects for the deadline. */
export async function settleWithin(work: Promise<unknown>, { deadlineMs = 10_000 }: CloseOptions) {
  const deadline = new AbortController();
  const expired = sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {});
  await Promise.race([work, expired]);
  deadline.abort();
}
