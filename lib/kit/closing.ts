import { setTimeout as sleep } from "node:timers/promises";
import { MAX_TIMER_MS, wholeNumber, type OptionRules } from "./validate-options";

/** How long `close` waits. */
export interface CloseOptions {
  /** How long to await running work, in milliseconds. @default 10_000 */
  deadlineMs?: number | undefined;
}

export const CLOSE_RULES: OptionRules<CloseOptions> = {
  deadlineMs: wholeNumber(0, MAX_TIMER_MS, "milliseconds"),
};

/** Awaits work until it settles or the deadline passes; rejects only as the work does. */
export async function settleWithin(
  work: Promise<unknown>,
  { deadlineMs = 10_000 }: CloseOptions,
): Promise<void> {
  const deadline = new AbortController();
  const expired = sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {});
  try {
    await Promise.race([work, expired]);
  } finally {
    deadline.abort();
  }
}

/** Creates the count of the requests that are running, which a close awaits. */
export function createRunningRequests() {
  let count = 0;
  let wake: (() => void) | undefined;

  return {
    begin: () => void count++,
    end(): void {
      if (--count === 0) wake?.();
    },
    /** Resolves when no request is running. */
    awaitNone(): Promise<void> {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => (wake = resolve));
    },
  };
}
