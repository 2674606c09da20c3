import { pauseAfter } from "../time/backoff";
import { MAX_TIMER_MS, wholeNumber, type OptionRule } from "../validation/validate-options";

/** The pauses between the attempts of an event. */
export interface Backoff {
  /** `"exponential"`: each pause is twice the one before it. */
  type: "exponential" | "fixed";
  /** The first pause, in milliseconds. */
  delayMs: number;
  /** How much of a pause is random, from 0 to 1. @default 0 */
  jitter?: number | undefined;
}

const DELAY_MS = wholeNumber(0, MAX_TIMER_MS, "milliseconds");

/** The rule of the option `backoff`. */
export const BACKOFF: OptionRule = {
  accepts: (value) => DELAY_MS.accepts(value) || isBackoff(value),
  expected: `${DELAY_MS.expected}, or an object such as { type: "exponential", delayMs: 500, jitter: 0.5 }`,
};

function isBackoff(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { type, delayMs, jitter = 0, ...others } = value as Record<string, unknown>;
  return (
    (type === "exponential" || type === "fixed") &&
    DELAY_MS.accepts(delayMs) &&
    typeof jitter === "number" &&
    jitter >= 0 &&
    jitter <= 1 &&
    Object.keys(others).length === 0
  );
}

/** Returns the pause after so many failed attempts, in milliseconds. */
export function pauseOf({ type, delayMs, jitter = 0 }: Backoff, failures: number): number {
  const longestMs = type === "fixed" ? delayMs : MAX_TIMER_MS;
  return pauseAfter(failures, { firstMs: delayMs, longestMs, jitter });
}
