import { isSid, type SidPrefix } from "../../kit/sid";
import { maskIdentity } from "../../kit/masked-identity";
import { cutText } from "../../kit/text";
import { describeReasons } from "../../kit/thrown-value";
import type { AnyEvent } from "../event/event";
import type { ObservedRequest } from "./inspection";
import type { NewEntry, RequestEntry, RequestResult } from "../journal/journal";
import { maskText } from "../journal/mask";

/** The entry of a request before the journal signs it. */
type NewRequestEntry = Extract<NewEntry, { kind: RequestEntry["kind"] }>;

/** What the writer of an entry knows of its request. */
type Known = Pick<
  NewRequestEntry,
  "id" | "kind" | "share" | "receiver" | "result" | "explanation"
> & { names: RequestNames };

/** The names in a request: of an authenticated event, else those that its sender claims. */
type RequestNames = Partial<
  Pick<
    NewRequestEntry,
    "type" | "version" | "uuid" | "accountSid" | "factorSid" | "challengeSid" | "identity"
  >
>;

const MAX_UUID_CHARACTERS = 100;
/** A longer one that is claimed is no identity of the service. */
const MAX_IDENTITY_CHARACTERS = 1_000;
const MAX_HEADER_CHARACTERS = 200;

const MESSAGES: Readonly<Record<string, string>> = {
  duplicate:
    "This uuid was accepted before, and its handlers did not run again. The service sends again after an error or a time-out.",
  conflict:
    "Another request with this uuid had other content. This one was dropped, and no handler ran. Look for a sender that reuses uuids.",
};

/** Makes the entry of an observed request. */
export function createRequestEntry(observed: ObservedRequest, known: Known): NewRequestEntry {
  const { queued, error, result, durationMs } = observed;
  const { names } = known;
  const event = queued?.event;
  const failure = error && describeReasons(error.cause);
  const { address, forwardedFor, userAgent } = observed.readSender();
  const { method, path } = observed.readTarget();
  // Each field by its name: a spread costs a request 20 µs on Node 20.
  return {
    id: known.id,
    kind: known.kind,
    share: known.share,
    atMs: findArrival(observed),
    durationMs: Math.round(durationMs * 10) / 10,
    result: known.result,
    status: error?.status ?? 200,
    code: error?.code,
    message: error === undefined ? MESSAGES[result ?? ""] : error.message,
    failure: failure && event && maskText(failure, event),
    isAuthenticated: event !== undefined,
    type: names.type,
    version: names.version,
    uuid: names.uuid,
    accountSid: names.accountSid,
    factorSid: names.factorSid,
    challengeSid: names.challengeSid,
    identity: names.identity,
    entity: names.identity && maskIdentity(names.identity),
    tokenIndex: queued?.authTokenIndex,
    urlIndex: queued?.publicUrlIndex,
    receiver: known.receiver,
    issues: (event?.issues ?? []).map((issue) => `${issue.param}: ${issue.message}`),
    target: `${cutText(method, 20)} ${path}`,
    sender: { address, forwardedFor: cutHeader(forwardedFor), userAgent: cutHeader(userAgent) },
    explanation: known.explanation,
  };
}

/** Returns the result of a request. */
export function findResult({ error, result }: ObservedRequest, hasQueue: boolean): RequestResult {
  if (error !== undefined) return error.status < 500 ? "rejected" : "failed";
  if (result === "duplicate" || result === "conflict") return result;
  return hasQueue ? "stored" : "handled";
}

/** Returns when a request arrived, in milliseconds since 1970, by the clock of now. */
export function findArrival({ startMs }: ObservedRequest): number {
  return Math.round(Date.now() - (performance.now() - startMs));
}

/** Reads the names of an authenticated event; of an unknown version only some are known. */
export function readNames(event: AnyEvent): RequestNames {
  const { version } = event;
  const fields: Partial<Record<"factor_sid" | "challenge_sid" | "entity_identity", string>> =
    version === undefined ? {} : event;
  return {
    type: event.type,
    version,
    uuid: event.uuid,
    accountSid: event.account_sid,
    factorSid: readField(fields.factor_sid),
    challengeSid: readField(fields.challenge_sid),
    identity: readField(fields.entity_identity),
  };
}

/** Reads the names that a sender claims, and may have invented. */
export function readClaims(observed: ObservedRequest): RequestNames {
  const params = new Map(observed.readClaims());
  const readSid = (prefix: SidPrefix, name: string) => {
    const value = params.get(name);
    return isSid(prefix, value) ? value : undefined;
  };
  const identity = params.get("entity_identity");
  const uuid = params.get("uuid");
  return {
    uuid: uuid && cutText(uuid, MAX_UUID_CHARACTERS),
    accountSid: readSid("AC", "account_sid"),
    factorSid: readSid("YF", "factor_sid"),
    challengeSid: readSid("YC", "challenge_sid"),
    identity: identity && identity.length <= MAX_IDENTITY_CHARACTERS ? identity : undefined,
  };
}

function readField(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function cutHeader(text: string | undefined): string | undefined {
  return text && cutText(text, MAX_HEADER_CHARACTERS);
}
