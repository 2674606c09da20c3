import { describeReasons } from "../../kit/thrown-value";
import {
  INVENTED_PREFIXES,
  type ObservedRequest,
  type PushEvent,
  type UnknownPushEvent,
} from "../../core/door";
import { isSid, type SidPrefix } from "../../kit/sid";
import { copyText, cutText } from "../../kit/text";
import type { Claims, EventView, RequestResult, RequestRow } from "./console-view";
import { createPseudonym, maskIdentity, maskText } from "./mask";

/**
 * Makes the row of an observed request: no token, no signature, and identities masked. Its texts are
 * copies, which do not keep the body.
 */
export function toRequestRow(
  observed: ObservedRequest,
  known: Pick<RequestRow, "id" | "change" | "attempt" | "canResend">,
  { reveals, hasQueue }: { reveals: boolean; hasQueue: boolean },
): RequestRow {
  const { queued, error, request, failedLater } = observed;
  const event = queued?.event;
  const uuid = event && copyText(event.uuid);
  const failure = error && describeReasons(error.cause);
  return {
    ...known,
    atMs: Math.round(performance.timeOrigin + observed.startMs),
    durationMs: Math.round(observed.durationMs * 10) / 10,
    result: findResult(observed, hasQueue),
    status: error === undefined || failedLater ? 200 : error.status,
    code: error?.code,
    message: error?.message ?? MESSAGES[observed.result ?? "new"],
    failure: failure && event && maskText(failure, event, reveals),
    ...viewEvent(event, reveals),
    uuid,
    accountSid: event && copyText(event.account_sid),
    tokenIndex: queued?.authTokenIndex,
    urlIndex: queued?.publicUrlIndex,
    claimed: queued === undefined ? readClaims(observed) : undefined,
    issues: event?.issues.map(({ param, message }) => `${param}: ${message}`) ?? [],
    target: copyText(`${cutText(request.method, 20)} ${request.path}`),
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
    return isSid(prefix, value) ? copyText(value) : undefined;
  };
  const uuid = params.get("uuid");
  return {
    uuid: uuid && copyText(cutText(uuid, MAX_UUID_CHARACTERS)),
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
  const copyField = (name: Field) => {
    const text = readField(event, name);
    return text && copyText(text);
  };
  const identity = copyField("entity_identity");
  return {
    type: event && copyText(event.type),
    version: event?.version,
    factorSid: copyField("factor_sid"),
    challengeSid: copyField("challenge_sid"),
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
