import type { PushEvent, UnknownPushEvent } from "../event/event";
import { readEventNames } from "./event-names";
import { readStoredEvent } from "./stored-event";

/** An event that exhausted its attempts. */
export interface DeadLetter {
  uuid: string;
  accountSid: string;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** The code and the message of the last error of its handlers. */
  error: string;
  /** How often its handlers ran. */
  attempts: number;
  /** When they failed last. */
  failedAt: Date;
}

/** Chooses between dead letters of one uuid. */
export interface DeadLetterOptions {
  /** Needed only when several accounts have a dead letter of the uuid. */
  accountSid?: string | undefined;
  /** Needed only when receivers with static tokens share the queue, as `accountSid` is a claim. */
  receiver?: string | undefined;
}

/** Creates a dead letter from the event as it is stored. */
export function createDeadLetter(
  stored: unknown,
  failure: Pick<DeadLetter, "error" | "attempts" | "failedAt">,
): DeadLetter {
  const { uuid, accountSid, receiver } = readEventNames(stored);
  return { uuid, accountSid, receiver, event: readIfPossible(stored), ...failure };
}

function readIfPossible(stored: unknown): DeadLetter["event"] {
  try {
    return readStoredEvent(stored).event;
  } catch {
    // The error may quote the parameters. Undefined tells that this version cannot read the event.
    return undefined;
  }
}
