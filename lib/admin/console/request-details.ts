import {
  type Confirm,
  confirmOnce,
  type ObservedRequest,
  type PushEvent,
  type PushWebhooks,
  type QueuedEvent,
  type UnknownPushEvent,
} from "../../core/door";
import type { Pair } from "../../kit/pairs";
import { copyText } from "../../kit/text";
import type { QueuedState, RequestDetails } from "./console-view";
import { maskIdentity, maskText } from "./mask";
import type { ConsoleQueue } from "./queue-view";

/** The details of a request that its row does not have. */
export interface KeptRequest {
  /** Undefined when the request was not authenticated, or is too large. */
  queued: QueuedEvent | undefined;
  /**
   * Whether this delivery was accepted, or only a store failed: its handlers may run again. Not of a
   * duplicate: a dedupe store may call other content one, which was dropped.
   */
  isAccepted: boolean;
  headers: readonly Pair[];
  responseHeaders: readonly Pair[];
}

/** 200 requests of this size take 7 MB. */
const MAX_CHARACTERS = 16_384;

/** Parameters that identify no user. */
const SHOWN_PARAMS = new Set([
  "uuid",
  "type",
  "account_sid",
  "service_sid",
  "factor_sid",
  "factor_type",
  "challenge_sid",
]);

/** The failures after which the app has not decided about an event. */
const UNDECIDED = new Set<string | undefined>([
  "STORE_UNAVAILABLE",
  "CONFIRM_UNAVAILABLE",
  "OVERLOADED",
]);

/** Keeps the details of requests, in bounded memory. */
export function keepRequest(observed: ObservedRequest): KeptRequest {
  const { queued, headers, result, error } = observed;
  const characters = queued?.event.params.flat().reduce((sum, text) => sum + text.length, 0) ?? 0;
  return {
    queued: characters > MAX_CHARACTERS ? undefined : queued,
    isAccepted: result === undefined ? UNDECIDED.has(error?.code) : result === "new",
    // A text that was cut keeps the whole one.
    headers: headers.map(([name, value]) => [name, copyText(value)]),
    responseHeaders: Object.entries(error?.headers ?? {}),
  };
}

/** Describes a request as the console may show it, and asks the queue for the state of its event. */
export async function describeDetails(
  { queued, headers, responseHeaders }: KeptRequest,
  queue: ConsoleQueue | undefined,
  reveals: boolean,
): Promise<RequestDetails> {
  const event = queued?.event;
  return {
    params: event?.params.map(([name, value]) => [
      name,
      reveals || SHOWN_PARAMS.has(name) ? value : maskParam(name, value),
    ]),
    headers,
    responseHeaders,
    queued: event && (await findQueued(queue, event.uuid, event.account_sid, event, reveals)),
  };
}

function maskParam(name: string, value: string): string {
  return name === "entity_identity" ? maskIdentity(value) : `(${value.length} characters)`;
}

/** Asks the queue for the state of an event; undefined when it does not know the event. */
export async function findQueued(
  queue: ConsoleQueue | undefined,
  uuid: string,
  accountSid: string,
  event: PushEvent | UnknownPushEvent | undefined,
  reveals: boolean,
): Promise<QueuedState | undefined> {
  const found = await queue?.find(uuid, { accountSid });
  if (found === undefined) return undefined;
  const { state, attempts, failures } = found;
  return {
    state,
    attempts,
    failures: failures.map(({ at, error, durationMs, process }) => {
      const masked = maskText(error, event ?? found.event, reveals);
      return { atMs: at.getTime(), error: masked, durationMs, process };
    }),
    atMs: found.at?.getTime(),
  };
}

/**
 * Runs the handlers again for the event of a request that was accepted: by the queue when it is a
 * dead letter, else in this process, after `confirm` if the event needs it.
 *
 * @returns why they did not; undefined when they succeeded, or run later.
 */
export async function resendRequest(
  { queued, isAccepted }: KeptRequest,
  { push, confirm }: { push: PushWebhooks; confirm: Confirm | undefined },
  queue: ConsoleQueue | undefined,
): Promise<string | undefined> {
  if (queued === undefined) return "Its event is not in memory.";
  if (!isAccepted) return "Its event was not accepted.";
  const { event, accountSid, uuid, authTokenIndex, publicUrlIndex, receiver } = queued;
  const state = (await queue?.find(uuid, { accountSid }))?.state;
  if (state === "dead" && (await queue?.retry(uuid, { accountSid, receiver })) === true) {
    return undefined;
  }
  if (state === "discarded") return "Its event was discarded.";
  if (state !== undefined && state !== "handled") {
    return `The queue runs its handlers: its event is ${state}.`;
  }
  if (push.handledTypes().every((type) => type !== event.type)) {
    return "No handler for it is registered in this process.";
  }
  try {
    if (queued.needsConfirmation === true) {
      await confirmOnce(confirm, event, queued.ambiguity);
    }
    await push.dispatch(event, { authTokenIndex, publicUrlIndex, receiver });
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? "INTERNAL_ERROR";
  }
}
