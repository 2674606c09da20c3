/** How often a member beats. */
export const BEAT_MS = 1_000;

/** After this time without a beat, the events of a member are taken from it. */
export const LEASE_MS = 4_000;

/** A clock that is behind a stored time by more than this was set back. */
export const MAX_CLOCK_SKEW_MS = 1_000;

/** How many members may die in the handlers of an event: it may be the cause. */
export const MAX_STALLS = 20;

/** The error of an event that reached {@link MAX_STALLS}. */
export const STALLED = `INTERNAL_ERROR: ${MAX_STALLS + 1} processes died in its handlers.`;
