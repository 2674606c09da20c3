import type { ChallengeEvent } from "../event/event";
import { isSid } from "../../kit/sid";
import { parseJson, toAsciiJson } from "../../kit/text";

/**
 * The outcome of a challenge: what a login reads. It has the names of the event (specification,
 * section 6.2), and none of its texts: neither details nor metadata are kept.
 */
export interface ChallengeOutcome {
  readonly type: ChallengeEvent["type"];
  /** The account that owns the service. */
  readonly account_sid: string;
  /** The verification service. */
  readonly service_sid: string;
  readonly challenge_sid: string;
  /** The identifier that the app uses for the user. */
  readonly entity_identity: string;
  /** The factor that responded to the challenge. */
  readonly factor_sid: string;
  /** When it was recorded, by the clock of the process that recorded it. */
  readonly at: Date;
  /** Who said it: a webhook request, or the service when a wait asked it. */
  readonly source: "webhook" | "service";
}

/**
 * Asks the service once whether the challenge of a wait was approved or denied; resolves with
 * undefined while it is neither. An error counts as no answer. Its signal aborts when the wait ends.
 */
export type FetchOutcome = (
  wait: {
    readonly challengeSid: string;
    readonly entityIdentity: string;
    readonly accountSid?: string | undefined;
  },
  context: { readonly signal: AbortSignal },
) => Promise<ChallengeOutcome | undefined>;

/** Returns the outcome that an event is. */
export function toOutcome(event: ChallengeEvent): ChallengeOutcome {
  const { type, account_sid, service_sid, challenge_sid, entity_identity, factor_sid } = event;
  const sids = { account_sid, service_sid, challenge_sid, factor_sid };
  return { type, ...sids, entity_identity, at: new Date(), source: "webhook" };
}

/** Writes an outcome as JSON of ASCII characters: about 200 bytes and the identity. */
export function writeOutcome(outcome: ChallengeOutcome): string {
  const { type, account_sid, service_sid, challenge_sid, factor_sid, entity_identity } = outcome;
  const sids = [account_sid, service_sid, challenge_sid, factor_sid];
  const members = [type, ...sids, entity_identity, outcome.at.getTime(), outcome.source];
  return toAsciiJson(members);
}

/** Reads an outcome that {@link writeOutcome} wrote; undefined for any other text. */
export function readOutcome(text: string): ChallengeOutcome | undefined {
  const members = parseJson(text);
  if (!Array.isArray(members)) return undefined;
  const [type, account_sid, service_sid, challenge_sid, factor_sid, ...rest] = members as unknown[];
  const [entity_identity, atMs, source] = rest;
  if (type !== "challenge.approved" && type !== "challenge.denied") return undefined;
  if (!isSid("AC", account_sid) || !isSid("VA", service_sid)) return undefined;
  if (!isSid("YC", challenge_sid) || !isSid("YF", factor_sid)) return undefined;
  if (typeof entity_identity !== "string" || typeof atMs !== "number") return undefined;
  if (source !== "webhook" && source !== "service") return undefined;
  const sids = { account_sid, service_sid, challenge_sid, factor_sid };
  return { type, ...sids, entity_identity, at: new Date(atMs), source };
}
