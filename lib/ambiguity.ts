import { V2_PARAMETERS } from "./call-parameters";
import { PUSH_EVENT_TYPES, type PushEvent, type UnknownPushEvent } from "./event";
import type { Pair } from "./form";

/**
 * Finds why the signed text of a POST request could also be read as another event.
 *
 * @param joined the sorted names and values of `event.params`, joined as they are signed.
 * @returns the reason, which repeats nothing of the request; undefined when no second reading
 *   would be accepted.
 */
export type FindAmbiguity = (
  event: PushEvent | UnknownPushEvent,
  joined: string,
) => string | undefined;

const KNOWN_NAMES: readonly string[] = V2_PARAMETERS;
const LONG_NAMES = KNOWN_NAMES.filter((name) => name.includes("_"));

/** Each parameter that holds a SID, with the prefix of its values. */
const SID_PARAMETERS = [
  ["account_sid", "AC"],
  ["service_sid", "VA"],
  ["factor_sid", "YF"],
  ["challenge_sid", "YC"],
] as const;
const SID_DIGITS = /[0-9a-fA-F]{32}/y;
const SID_CHARACTERS = 34;

const KNOWN_TYPE = new RegExp(PUSH_EVENT_TYPES.join("|").replaceAll(".", "\\."), "y");
/** An unknown type, as the schema accepts it, with the name that follows it. */
const UNKNOWN_TYPE_THEN_UUID = /[A-Za-z][\w.-]{0,99}?uuid/y;

/** A value whose end shows: a UUID, 32 hexadecimal digits, or a SID. */
const SELF_DELIMITING =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[A-Z]{2}[0-9a-f]{32})/i;

/** How the names begin that the service may send after `entity_identity`. */
const RESOURCE_NAME = "(?:entity|event|factor)_[a-z]";

/**
 * Creates the check that a signed text has one reading only.
 *
 * A signature covers names and values joined without separators (specification, section 5), so the
 * same signature fits other parameters. What passes this check has no second reading with another
 * type, account, service, entity, factor, challenge or uuid that passes, too; SECURITY.md, "Another
 * reading", has the argument, which names the rules below.
 *
 * @param extraParameters names, beside those that begin with `entity_`, `event_` or `factor_`, that
 *   the service sends and that sort directly after `entity_identity`.
 */
export function createFindAmbiguity(extraParameters: readonly string[]): FindAmbiguity {
  const declaredName = new RegExp(
    `^(?:${[RESOURCE_NAME, ...extraParameters.map((name) => `${name}$`)].join("|")})`,
  );
  const endOfIdentity = new RegExp([RESOURCE_NAME, ...extraParameters].join("|"));

  return function findAmbiguity(event, joined) {
    const unknownNames: string[] = [];
    for (const [name] of event.params) if (!KNOWN_NAMES.includes(name)) unknownNames.push(name);
    return (
      findSidProblem(event.params, joined) ??
      findTypeProblem(event, unknownNames, joined) ??
      findUuidProblem(event.uuid, unknownNames) ??
      (event.version === undefined
        ? undefined
        : (findVersionProblem(event, joined) ??
          findIdentityProblem(event, declaredName, endOfIdentity) ??
          findStartProblem(event, joined)))
    );
  };
}

/** Rule "SIDs": each SID parameter with its value stands in the text as often as in the pairs. */
function findSidProblem(params: readonly Pair[], joined: string): string | undefined {
  for (const [name, prefix] of SID_PARAMETERS) {
    let count = 0;
    for (const at of listPositions(joined, name + prefix)) {
      if (matchesAt(SID_DIGITS, joined, at + name.length + prefix.length)) count++;
    }
    const value = params.find((pair) => pair[0] === name)?.[1] ?? "";
    const isSid =
      value.length === SID_CHARACTERS &&
      value.startsWith(prefix) &&
      matchesAt(SID_DIGITS, value, 2);
    if (count !== (isSid ? 1 : 0)) return `another value contains ${name} and a SID`;
  }
  return undefined;
}

/** Rule "type": the text has one place that can be read as the type, and as one type only. */
function findTypeProblem(
  event: PushEvent | UnknownPushEvent,
  unknownNames: readonly string[],
  joined: string,
): string | undefined {
  if (event.version === undefined) {
    const { type } = event;
    const known = PUSH_EVENT_TYPES.find((one) => type.startsWith(one));
    // A name that sorts after "type" could begin where the known type ends.
    if (known !== undefined && type.slice(known.length) > "type")
      return "type begins with a known type";
    if (containsName(type) || type.includes("uuid")) return "type contains the name of a parameter";
    if (unknownNames.some((name) => name > "type" && name < "uuid")) {
      return "an unknown parameter follows a type that is not known";
    }
  }
  const count = listPositions(joined, "type").filter((at) => isTypeAt(joined, at + 4)).length;
  return count === 1 ? undefined : "another value contains type and the type of an event";
}

function isTypeAt(joined: string, at: number): boolean {
  if (matchesAt(KNOWN_TYPE, joined, at)) return true;
  return (
    matchesAt(UNKNOWN_TYPE_THEN_UUID, joined, at) &&
    !containsName(joined.slice(at, UNKNOWN_TYPE_THEN_UUID.lastIndex))
  );
}

/** Rule "uuid": it begins where its name stands first, and ends with the text or by its format. */
function findUuidProblem(uuid: string, unknownNames: readonly string[]): string | undefined {
  const rest = cutSelfDelimiting(uuid);
  if (rest !== undefined && rest > "uuid") return "uuid goes on after the format of an identifier";
  if (rest !== "" && unknownNames.some((name) => name > "uuid")) {
    return "an unknown parameter follows a uuid whose end does not show";
  }
  if (unknownNames.some((name) => name !== "" && "uuid".startsWith(name))) {
    return "the name of an unknown parameter is the beginning of uuid";
  }
  return undefined;
}

/** Rule "version": a text that has a name of v2 is v2. */
function findVersionProblem({ version }: PushEvent, joined: string): string | undefined {
  if (version === "v2" || !/factor_(?:friendly_name|type|metadata)/.test(joined)) return undefined;
  return "a value of v1 contains the name of a parameter of v2";
}

/** Rule "identity", its end: the name that follows shows it, or the identity itself does. */
function findIdentityProblem(
  { entity_identity, params }: PushEvent,
  declaredName: RegExp,
  endOfIdentity: RegExp,
): string | undefined {
  const rest = cutSelfDelimiting(entity_identity);
  if (rest !== undefined && rest > "entity_identity") {
    return "entity_identity goes on after the format of an identifier";
  }
  let next = "factor_sid";
  for (const [name] of params) if (name > "entity_identity" && name < next) next = name;
  // With the next name: a name could also begin in the identity and end after it.
  const nameAt = (entity_identity + next).slice(1).search(endOfIdentity);
  if (nameAt !== -1 && nameAt < entity_identity.length - 1) {
    return "entity_identity contains the name of a parameter";
  }
  if (rest === "" || declaredName.test(next)) return undefined;
  return "a parameter that is not known sorts directly after entity_identity; if the service sends it, list its name in the option extraParameters";
}

/** Rule "start": entity_identity and uuid begin in one place only. */
function findStartProblem(event: PushEvent, joined: string): string | undefined {
  const afterAccount = endOf(joined, `account_sid${event.account_sid}`);
  const challengeSid = "challenge_sid" in event ? event.challenge_sid : undefined;
  const afterSid =
    challengeSid === undefined ? afterAccount : endOf(joined, `challenge_sid${challengeSid}`);
  const beforeFactor = joined.slice(afterSid, joined.indexOf(`factor_sid${event.factor_sid}`));
  // Metadata, which follows the friendly name, may name entity_identity.
  const candidates =
    event.version === "v1"
      ? beforeFactor
      : beforeFactor.slice(0, beforeFactor.lastIndexOf("factor_friendly_name"));
  if (listPositions(candidates, "entity_identity").length > 1) {
    return "another value contains entity_identity";
  }
  const afterType = joined.slice(endOf(joined, `type${event.type}`));
  if (!afterType.startsWith("uuid") && listPositions(afterType, "uuid").length > 1) {
    return "another value contains uuid";
  }
  return undefined;
}

function containsName(text: string): boolean {
  return LONG_NAMES.some((name) => text.includes(name));
}

/** The text after an identifier that shows its end; undefined when the value is none. */
function cutSelfDelimiting(value: string): string | undefined {
  const match = SELF_DELIMITING.exec(value);
  return match === null ? undefined : value.slice(match[0].length);
}

function endOf(text: string, part: string): number {
  return text.indexOf(part) + part.length;
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function listPositions(text: string, part: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) positions.push(at);
  return positions;
}
