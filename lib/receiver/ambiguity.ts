import { PUSH_EVENT_TYPES, type PushEvent, type UnknownPushEvent } from "../event/event";
import { KNOWN_NAMES } from "../form/parameters";
import { SID_DIGITS } from "../form/sid";

const SID_CHARACTERS = 34;
/** The parameters whose values are SIDs, by the prefix of the SIDs. */
const SID_NAMES = new Map<string, keyof EndsOfSids>([
  ["AC", "account"],
  ["YC", "challenge"],
  ["YF", "factor"],
  ["VA", "service"],
]);
const IDENTITY = "entity_identity";
const FRIENDLY_NAME = "factor_friendly_name";
const FACTOR_SID = "factor_sid";

const KNOWN_TYPE = new RegExp(PUSH_EVENT_TYPES.join("|").replaceAll(".", "\\."), "y");
/** An unknown type, as the schema accepts it, with the name that follows it. */
const UNKNOWN_TYPE_THEN_UUID = /([A-Za-z][\w.-]{0,99}?)uuid/y;

const WHOLE_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** An identifier whose end shows: a UUID, 32 hexadecimal digits, or a SID. */
const SELF_DELIMITING = new RegExp(
  `^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|${SID_DIGITS}|[A-Z]{2}${SID_DIGITS})`,
  "i",
);

/**
 * Creates the check that a signed text has one reading only.
 *
 * A signature covers names and values joined without separators (specification, section 5), so the
 * same signature fits other parameters. Each rule below finds where a decisive value begins and
 * ends from the text alone, so every set of parameters of one text that passes has the same type,
 * account, service, entity, factor, challenge and uuid. SECURITY.md, "Another reading", has the
 * argument, which names the rules.
 *
 * @param extraParameters the option of this name.
 */
export function createFindAmbiguity(extraParameters: readonly string[]) {
  const afterIdentity = {
    v1: findNameAfterIdentity(extraParameters, FACTOR_SID),
    v2: findNameAfterIdentity(extraParameters, FRIENDLY_NAME),
  };

  /**
   * Finds why the signed text of a POST request could also be read as another event.
   *
   * @param joined the sorted names and values of `event.params`, joined as they are signed.
   * @returns the reason, which repeats nothing of the request; undefined for one reading.
   */
  return function findAmbiguity(event: PushEvent | UnknownPushEvent, joined: string) {
    const ends = findEndsOfSids(joined);
    const unknownNames: string[] = [];
    for (const [name] of event.params) if (!KNOWN_NAMES.has(name)) unknownNames.push(name);
    if (!(ends.account > 0)) return "another value contains account_sid and a SID";
    const hasService = event.service_sid !== undefined;
    if (hasService ? !(ends.service > 0) : ends.service !== 0) {
      return "another value contains service_sid and a SID";
    }
    const tail = joined.slice(hasService ? ends.service : ends.account);
    const tailProblem = findTailProblem(event, unknownNames, tail);
    if (tailProblem !== undefined || event.version === undefined) return tailProblem;
    return findIdentityProblem(event, unknownNames, joined, ends, afterIdentity[event.version]);
  };
}

/** Returns the name that follows `entity_identity`: declared, or the next of the specification. */
function findNameAfterIdentity(extraParameters: readonly string[], known: string): string {
  return extraParameters.filter((name) => name > IDENTITY && name < known).toSorted()[0] ?? known;
}

/** Where the SID of each parameter ends; 0 if there is none, NaN if there is more than one. */
type EndsOfSids = Record<"account" | "challenge" | "factor" | "service", number>;

/** Rule "SIDs": each name with the prefix of its values occurs once, and `account_sid=A` never. */
function findEndsOfSids(joined: string): EndsOfSids {
  const ends = { account: 0, challenge: 0, factor: 0, service: 0 };
  // One search for the common part of the four names: a search for each takes three times as long.
  for (let at = joined.indexOf("_sid"); at !== -1; at = joined.indexOf("_sid", at + 1)) {
    const sidAt = at + "_sid".length;
    const prefix = joined.slice(sidAt, sidAt + 2);
    // A GET writes its account so: an attacker must not pass the text of a GET off as a POST.
    if (prefix === "=A" && joined.endsWith("account", at)) ends.account = Number.NaN;
    const name = SID_NAMES.get(prefix);
    if (name === undefined || !joined.endsWith(name, at)) continue;
    ends[name] = ends[name] === 0 ? sidAt + SID_CHARACTERS : Number.NaN;
  }
  return ends;
}

/** Rules "type" and "uuid", on the text after `service_sid`. */
function findTailProblem(
  event: PushEvent | UnknownPushEvent,
  unknownNames: readonly string[],
  tail: string,
): string | undefined {
  let typeAt = -1;
  for (let at = tail.indexOf("type"); at !== -1; at = tail.indexOf("type", at + 1)) {
    if (!isTypeAt(tail, at + 4)) continue;
    if (typeAt !== -1) return "another value contains type and the type of an event";
    typeAt = at;
  }
  if (typeAt === -1) return "the end of type does not show";
  if (event.version === undefined && !hasSafeType(event)) {
    return "type contains a known type, type or uuid";
  }

  const afterType = tail.slice(typeAt + 4 + event.type.length);
  const end = cutSelfDelimiting(event.uuid);
  if (end !== undefined && end > "uuid") return "uuid goes on after the format of an identifier";
  for (const name of unknownNames) {
    if (name > "uuid" && end !== "") {
      return "an unknown parameter follows a uuid whose end does not show";
    }
    if (name <= "type" || name > "uuid") continue;
    if (event.version === undefined) return "an unknown parameter follows a type that is not known";
    if ("uuid".startsWith(name)) return "the name of a parameter is the beginning of uuid";
  }
  if (
    !afterType.startsWith("uuid") &&
    afterType.indexOf("uuid") !== afterType.lastIndexOf("uuid")
  ) {
    return "another value contains uuid";
  }
  return undefined;
}

function isTypeAt(tail: string, at: number): boolean {
  KNOWN_TYPE.lastIndex = at;
  if (KNOWN_TYPE.test(tail)) return true;
  UNKNOWN_TYPE_THEN_UUID.lastIndex = at;
  const unknown = UNKNOWN_TYPE_THEN_UUID.exec(tail)?.[1];
  // Otherwise a parameter such as source_type would extend over "type" to uuid.
  return unknown !== undefined && !unknown.includes("type");
}

/** Returns whether no name of a parameter could begin inside an unknown type. */
function hasSafeType({ type }: UnknownPushEvent): boolean {
  if (type.includes("type") || type.includes("uuid")) return false;
  const known = PUSH_EVENT_TYPES.find((one) => type.startsWith(one));
  // With the name that follows, as a name could begin in the type and end after it.
  return known === undefined || `${type.slice(known.length)}uuid` <= "type";
}

/** Rule "identity": it begins after its name and ends before the next name; both occur once. */
function findIdentityProblem(
  event: PushEvent,
  unknownNames: readonly string[],
  joined: string,
  { account, challenge, factor }: EndsOfSids,
  expected: string,
): string | undefined {
  if (!(factor > 0)) return "another value contains factor_sid and a SID";
  const start = "challenge_sid" in event ? challenge : account;
  if (!(start > 0)) return "another value contains challenge_sid and a SID";

  // An event of v2 has a friendly name, and an event of v1 has no name of v2.
  let next = event.version === "v2" ? FRIENDLY_NAME : FACTOR_SID;
  for (const name of unknownNames) if (name > IDENTITY && name < next) next = name;
  if (next !== expected) {
    return next === FACTOR_SID || next === FRIENDLY_NAME
      ? `extraParameters lists ${expected}, which the request does not carry`
      : "an unknown parameter sorts directly after entity_identity; if every webhook request of the service carries it, list its name in the option extraParameters";
  }
  // The metadata follows the friendly name and may contain any other name.
  const factorAt = factor - SID_CHARACTERS - FACTOR_SID.length;
  const friendlyAt = joined.indexOf(FRIENDLY_NAME, start);
  const hasFriendlyName = friendlyAt !== -1 && friendlyAt < factorAt;
  if (hasFriendlyName !== (event.version === "v2")) return "a value of v1 contains a name of v2";
  const end = hasFriendlyName ? friendlyAt : factorAt;
  if (hasFriendlyName && containsBetween(joined, FRIENDLY_NAME, friendlyAt + 1, factorAt)) {
    return "another value contains factor_friendly_name";
  }
  const identityAt = joined.indexOf(IDENTITY, start);
  if (containsBetween(joined, IDENTITY, identityAt + 1, end)) {
    return "another value contains entity_identity";
  }
  if (expected === FACTOR_SID || expected === FRIENDLY_NAME) return undefined;
  const expectedAt = joined.indexOf(expected, identityAt + IDENTITY.length);
  return containsBetween(joined, expected, expectedAt + 1, end)
    ? `another value contains ${expected}`
    : undefined;
}

function containsBetween(text: string, part: string, from: number, to: number): boolean {
  const at = text.indexOf(part, from);
  return at !== -1 && at + part.length <= to;
}

/** Returns the text after an identifier whose end shows; undefined for any other value. */
function cutSelfDelimiting(value: string): string | undefined {
  // Test first: it costs less than a match, and nearly every uuid passes.
  if (WHOLE_UUID.test(value)) return "";
  const match = SELF_DELIMITING.exec(value);
  return match === null ? undefined : value.slice(match[0].length);
}
