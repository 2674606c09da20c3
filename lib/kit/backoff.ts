/** Pauses of which each is twice the one before it, in milliseconds. */
export interface Pauses {
  firstMs: number;
  longestMs: number;
  /** How much of a pause is random, from 0 to 1. @default 0 */
  jitter?: number;
}

/** Returns the pause after so many failures, in milliseconds. */
export function pauseAfter(failures: number, { firstMs, longestMs, jitter = 0 }: Pauses): number {
  const pauseMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.floor(pauseMs * (1 - jitter * Math.random()));
}
