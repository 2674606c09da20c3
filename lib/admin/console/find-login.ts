import type { PendingWait, PushEvent, ReceiverInspection, UnknownPushEvent } from "../../core/door";
import { SID_DIGITS } from "../../kit/sid";
import { cutText } from "../../kit/text";
import { ApiError } from "../client/api-error";
import { InputError } from "../client/input-error";
import type { ChallengeKey } from "../client/resources";
import type { AdminClient } from "../client/client";
import type { FoundChallenge, LoginSearch, PendingWaitRow } from "./console-view";
import { createPseudonym, maskIdentity } from "./mask";
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

const CHALLENGE_AND_IDENTITY = new RegExp(`^(YC${SID_DIGITS})\\s+(.+)$`);

/**
 * Finds a login by the identity or the pseudonym of its user, its challenge, its factor or the uuid of
 * an event: in the requests and waits of this process, in the dead letters, and at the service. Of a
 * challenge that is not known here, the service needs the identity, too: `<challenge SID> <identity>`.
 */
export async function findLogin(text: string, places: SearchedPlaces): Promise<LoginSearch> {
  const { client, log, inspection, queue, reveals } = places;
  const [, givenSid, givenIdentity] = CHALLENGE_AND_IDENTITY.exec(text) ?? [];
  const sought = givenSid ?? text;
  /** The challenges that were found, the newest last. */
  const keys: ChallengeKey[] = [];
  if (givenSid !== undefined && givenIdentity !== undefined) {
    keys.push({ challengeSid: givenSid, entityIdentity: givenIdentity });
  }

  function isNamed(entityIdentity = "", ...names: readonly (string | undefined)[]): boolean {
    return [entityIdentity, createPseudonym(entityIdentity), ...names].includes(sought);
  }

  function isSought(event: PushEvent | UnknownPushEvent | undefined): boolean {
    const entityIdentity = readField(event, "entity_identity");
    const challengeSid = readField(event, "challenge_sid");
    const factorSid = readField(event, "factor_sid");
    if (!isNamed(entityIdentity, challengeSid, factorSid, event?.uuid)) return false;
    if (entityIdentity !== undefined && challengeSid !== undefined) {
      keys.push({ entityIdentity, challengeSid });
    }
    return true;
  }

  const deadLetters =
    queue === undefined
      ? []
      : await listDeadLetters(queue, reveals, (deadLetter) => isSought(deadLetter.event));
  const rows = log
    .listRows()
    .filter(
      ({ id, claimed = {} }) =>
        isSought(log.find(id).queued?.event) || Object.values(claimed).includes(sought),
    );
  const waits = inspection
    .listPendingWaits()
    .filter(({ challengeSid, entityIdentity }) => isNamed(entityIdentity, challengeSid));
  for (const { challengeSid, entityIdentity } of waits) keys.push({ challengeSid, entityIdentity });
  const newest = keys.at(-1);
  return {
    process: log.owner,
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
    startedAtMs: Math.round(performance.timeOrigin + startMs),
  };
}

async function fetchChallenge(client: AdminClient, key: ChallengeKey): Promise<FoundChallenge> {
  const { challengeSid } = key;
  try {
    const { status, date_responded } = await client.challenges.fetch(key);
    return { challengeSid, status, date_responded, problem: undefined };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof InputError)) throw error;
    const isMissing = error instanceof ApiError && error.status === 404;
    const problem = isMissing ? "NOT_FOUND" : error.code;
    return { challengeSid, status: null, date_responded: null, problem };
  }
}
