/** Chooses between events of one uuid. */
export interface DeadLetterOptions {
  /** Needed only when several accounts have an event of the uuid. */
  accountSid?: string | undefined;
  /** Needed only when receivers with static tokens share the queue, as `accountSid` is a claim. */
  receiver?: string | undefined;
}

/** Where an event of a queue is. */
export type EventState = "waiting" | "active" | "delayed" | "dead" | "handled";

/** An attempt whose handlers failed. */
export interface EventFailure {
  /** When they failed. */
  at: Date;
  /** The code and the messages of their errors. */
  error: string;
}
