/** The health of a receiver or a queue, for the probes of an orchestrator. */
export interface Health {
  /**
   * `"unhealthy"`: a restart of this process helps. `"degraded"`: it does its work as far as it can,
   * and the cause is elsewhere.
   */
  status: "healthy" | "degraded" | "unhealthy";
  /** Undefined when healthy. */
  code?: "CLOSING" | "STORE_UNAVAILABLE" | "WORKER_STOPPED" | "NO_WORKER" | "QUEUE_PAUSED";
  /** Says why, for the log of the app: it may name the address of a store. Undefined when healthy. */
  reason?: string;
  /** Since when. Undefined when healthy. */
  since?: Date;
}

/** Of a receiver or a queue that is closed, or closing. */
export const CLOSED: Health = {
  status: "unhealthy",
  code: "CLOSING",
  reason: "close() was called.",
};

/** The time in which a store cannot be used. */
export interface StoreOutage {
  /** The first error. */
  error: Error;
  since: Date;
}

/** Describes a store that cannot be used. */
export function describeOutage({ error, since }: StoreOutage): Health {
  const { message, name, code = name } = error as NodeJS.ErrnoException;
  // A failed connection to several addresses has a code and no message.
  return { status: "degraded", code: "STORE_UNAVAILABLE", reason: message || code, since };
}
