import type { PendingWait } from "../../challenge/challenge-wait";
import type { PushEvent, UnknownPushEvent } from "../../event/event";
import { cutText } from "../../form/text";
import type { ReceiverInspection } from "../../receiver/inspection";
import { ApiError } from "../client/api-error";
import { InputError } from "../client/input-error";
import type { ChallengeKey } from "../client/challenge";
import type { AdminClient } from "../client/client";
import type { FoundChallenge, LoginSearch, PendingWaitRow } from "./console-view";
import { maskIdentity } from "./mask";
import { listDeadLetters, type ConsoleQueue } from "./queue-view";
import type { RequestLog } from "./request-log";
import { readField } from "./request-row";

/** The places that a search looks at. */
export interface SearchedPlaces {
  client: AdminClient;
  log: RequestLog;
  inspection: ReceiverInspection;
  queue: ConsoleQueue | undefined;
  reveals: boolean;
}

const MAX_DEAD_LETTERS = 20;

/**
 * Finds a login by the identity of its user, its challenge, its factor or the uuid of an event: in the
 * requests and waits of this process, in the dead letters, and at the service.
 */
export async function findLogin(text: string, places: SearchedPlaces): Promise<LoginSearch> {
  const { client, log, inspection, queue, reveals } = places;
  /** The challenges that were found, the newest last. */
  const keys: ChallengeKey[] = [];

  function isSought(event: PushEvent | UnknownPushEvent | undefined): boolean {
    const entityIdentity = readField(event, "entity_identity");
    const challengeSid = readField(event, "challenge_sid");
    const names = [entityIdentity, challengeSid, readField(event, "factor_sid"), event?.uuid];
    if (!names.includes(text)) return false;
    if (entityIdentity !== undefined && challengeSid !== undefined) {
      keys.push({ entityIdentity, challengeSid });
    }
    return true;
  }

  const deadLetters =
    queue === undefined
      ? []
      : await listDeadLetters(queue, reveals, MAX_DEAD_LETTERS, (one) => isSought(one.event));
  const rows = log.listRows().filter(({ id }) => isSought(log.find(id).queued?.event));
  const waits = inspection
    .readPendingWaits()
    .list()
    .filter(({ challengeSid, entityIdentity }) => [challengeSid, entityIdentity].includes(text));
  for (const { challengeSid, entityIdentity } of waits) keys.push({ challengeSid, entityIdentity });
  const newest = keys.at(-1);
  return {
    ids: rows.map(({ id }) => id),
    deadLetters,
    waits: waits.map((wait) => toWaitRow(wait, reveals)),
    challenge: newest && (await fetchChallenge(client, newest)),
  };
}

/** Shows a wait as the console may. */
export function toWaitRow(wait: PendingWait, reveals: boolean): PendingWaitRow {
  const { challengeSid, entityIdentity, startMs } = wait;
  return {
    challengeSid,
    entity: reveals ? cutText(entityIdentity) : maskIdentity(entityIdentity),
    startedAtMs: performance.timeOrigin + startMs,
  };
}

/** Asks the service for a challenge. */
async function fetchChallenge(client: AdminClient, key: ChallengeKey): Promise<FoundChallenge> {
  const { challengeSid } = key;
  try {
    const { status, date_created, date_responded } = await client.challenges.fetch(key);
    return { challengeSid, status, date_created, date_responded, problem: undefined };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof InputError)) throw error;
    const none = { status: null, date_created: null, date_responded: null };
    return { challengeSid, ...none, problem: error.code };
  }
}
