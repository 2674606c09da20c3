import { describeReasons } from "../../kit/thrown-value";
import {
  INVENTED_PREFIXES,
  type ObservedRequest,
  type PushEvent,
  type UnknownPushEvent,
} from "../../core/door";
import { isSid, type SidPrefix } from "../../kit/sid";
import { cutText } from "../../kit/text";
import type { Claims, EventView, RequestResult, RequestRow } from "./console-view";
import { createPseudonym, maskIdentity, maskText } from "./mask";

/** Makes the row of an observed request: no token, no signature, and identities masked. */
export function toRequestRow(
  observed: ObservedRequest,
  known: Pick<RequestRow, "id" | "change" | "attempt" | "canResend">,
  { reveals, hasQueue }: { reveals: boolean; hasQueue: boolean },
): RequestRow {
  const { queued, error, request, failedLater } = observed;
  const event = queued?.event;
  const { uuid } = event ?? {};
  const failure = error && describeReasons(error.cause);
  return {
    ...known,
    atMs: performance.timeOrigin + observed.startMs,
    durationMs: observed.durationMs,
    result: findResult(observed, hasQueue),
    status: error === undefined || failedLater ? 200 : error.status,
    code: error?.code,
    message: error?.message ?? MESSAGES[observed.result ?? "new"],
    failure: failure && event && maskText(failure, event, reveals),
    ...viewEvent(event, reveals),
    uuid,
    accountSid: event?.account_sid,
    tokenIndex: queued?.authTokenIndex,
    urlIndex: queued?.publicUrlIndex,
    claimed: queued === undefined ? readClaims(observed) : undefined,
    issues: event?.issues.map(({ param, message }) => `${param}: ${message}`) ?? [],
    target: `${cutText(request.method, 20)} ${request.path}`,
    isTest: uuid?.startsWith(INVENTED_PREFIXES.console) === true,
    explanation: undefined,
    canExplain: false,
    resent: undefined,
  };
}

const MESSAGES: Readonly<Record<string, string>> = {
  duplicate:
    "This uuid was accepted before, and its handlers did not run again. The service sends again after an error or a time-out.",
  conflict:
    "Another request with this uuid had other content. This one was dropped, and no handler ran. Look for a sender that reuses uuids.",
};

function findResult({ error, result }: ObservedRequest, hasQueue: boolean): RequestResult {
  if (error !== undefined) return error.status < 500 ? "rejected" : "failed";
  if (result === "duplicate" || result === "conflict") return result;
  return hasQueue ? "stored" : "handled";
}

const MAX_UUID_CHARACTERS = 100;

function readClaims(observed: ObservedRequest): Claims {
  const params = new Map(observed.readClaims());
  const readSid = (prefix: SidPrefix, name: string) => {
    const value = params.get(name);
    return isSid(prefix, value) ? value : undefined;
  };
  const uuid = params.get("uuid");
  return {
    uuid: uuid && cutText(uuid, MAX_UUID_CHARACTERS),
    accountSid: readSid("AC", "account_sid"),
    factorSid: readSid("YF", "factor_sid"),
    challengeSid: readSid("YC", "challenge_sid"),
  };
}

/** Describes an event as the console may show it. */
export function viewEvent(
  event: PushEvent | UnknownPushEvent | undefined,
  reveals: boolean,
): EventView {
  const identity = readField(event, "entity_identity");
  return {
    type: event?.type,
    version: event?.version,
    factorSid: readField(event, "factor_sid"),
    challengeSid: readField(event, "challenge_sid"),
    entity: identity && (reveals ? cutText(identity) : maskIdentity(identity)),
    pseudonym: reveals || identity === undefined ? undefined : createPseudonym(identity),
  };
}

type Field = "factor_sid" | "challenge_sid" | "entity_identity";

/** Reads a field; undefined of an event that does not have it. */
export function readField(
  event: PushEvent | UnknownPushEvent | undefined,
  name: Field,
): string | undefined {
  return event?.version === undefined ? undefined : (event as Partial<Record<Field, string>>)[name];
}
