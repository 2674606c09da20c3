import { PUSH_EVENT_TYPES, type PushEvent, type AnyEvent } from "../event/event";
import { KNOWN_NAMES, type PushEventVersion } from "../event/event-parameters";
import type { Pair } from "../../kit/pairs";
import { SID_DIGITS } from "../../kit/sid";

/** Why the text of a signed request may be read as another event. */
interface Ambiguity {
  /** Repeats no value of the request. */
  reason: string;
  /** The parameter to declare, or the one that holds the text; undefined if its name is not shown. */
  parameter?: string | undefined;
}

const ACCOUNT_SID = "account_sid";
const IDENTITY = "entity_identity";
const FRIENDLY_NAME = "factor_friendly_name";
const FACTOR_SID = "factor_sid";
const TYPE = "type";
const UUID = "uuid";
/** Sorts after every name. */
const LAST = "\uffff";
const SID_CHARACTERS = 34;

/** The parameters whose values are SIDs, by the prefix of the SIDs. */
const SID_NAMES = new Map<string, keyof SidPlaces>([
  ["AC", "account_sid"],
  ["YC", "challenge_sid"],
  ["YF", "factor_sid"],
  ["VA", "service_sid"],
]);

/** Parts of the requests of other products: an account, or the hash of a body that is no form. */
const OTHER_PRODUCT = ["AccountSidAC", "AccountSid=", "bodySHA256="];
const IN_OTHER_PRODUCT = new RegExp(OTHER_PRODUCT.join("|"));

/** The source of a pattern: a UUID, 32 hexadecimal digits or a SID. */
const IDENTIFIER = `(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?:[A-Za-z]{2})?${SID_DIGITS})`;

// A parameter after the uuid has a name that is sorted after "uuid".
const MAY_CONTAIN_NAME = new RegExp(`^${IDENTIFIER}[^]*[u-\uffff]`);
const BEGINS_WITH_IDENTIFIER = new RegExp(`^${IDENTIFIER}`);

// All types of the service have a dot.
const mayBeType = (value: string) => value.includes(".");
const mayBeUuid = (value: string) => BEGINS_WITH_IDENTIFIER.test(value);

/**
 * Checks that a signed POST is the event that its text shows.
 *
 * A signature covers names and values joined without separators (specification, section 5), so it
 * also fits other parameters. The check therefore reads the decisive values from the text alone, in
 * one way, and compares: all parameters of one text that pass have the same type, account, service,
 * entity, factor, challenge and uuid. SECURITY.md, "Another reading", has the argument.
 */
export class AmbiguityCheck {
  /** Names of parameters that the specification does not have and that may end a value. */
  readonly #declared: readonly string[];
  readonly #beforeAccount: readonly string[];
  readonly #mayHaveNamesAfterType: boolean;
  /** The declared names between the identity and the next name of each version. */
  readonly #afterIdentity: Readonly<Record<PushEventVersion, readonly RegExp[]>>;
  readonly #typePattern: RegExp;
  readonly #uuidPattern: RegExp;
  readonly #earlierUuid: RegExp;

  /**
   * @param declared names of parameters that the specification does not have and that may end a value.
   *   The value of one may be a SID: an attacker cannot choose it.
   */
  constructor(declared: readonly string[]) {
    const listBetween = (after: string, before: string) =>
      declared.filter((name) => name > after && name < before);
    const createNamePatterns = (before: string) =>
      listBetween(IDENTITY, before).map(
        (name, _index, all) => new RegExp(excludeLonger(name, all) + escapePattern(name), "g"),
      );
    this.#declared = declared;
    this.#beforeAccount = listBetween("", ACCOUNT_SID);
    this.#mayHaveNamesAfterType = listBetween(TYPE, LAST).length > 0;
    this.#afterIdentity = {
      v1: createNamePatterns(FACTOR_SID),
      v2: createNamePatterns(FRIENDLY_NAME),
    };
    // No name before "type" can be after it.
    const wholeUuid = excludeLonger(UUID, listBetween(TYPE, LAST));
    const afterType = [
      excludeLonger(UUID, declared) + UUID,
      ...listBetween(TYPE, UUID).map(escapePattern),
    ].join("|");
    const knownTypes = PUSH_EVENT_TYPES.map(escapePattern).join("|");
    // A known type ends before the next name, which is between "type" and "uuid" in order.
    this.#typePattern = new RegExp(
      `(?:(${excludeLonger(TYPE, declared)})|)type(?:(${knownTypes})(?=[tu])|((?!type)[A-Za-z](?:(?!type)[\\w.-]){0,99}?)(?=${afterType}))`,
      "g",
    );
    const afterUuid = ["$", ...listBetween(UUID, LAST).map(escapePattern)].join("|");
    this.#uuidPattern = new RegExp(
      `(?:(${wholeUuid})|)uuid((?:(?!uuid)[\\w.:~+/=-]){1,256}?)(?=${afterUuid})`,
      "g",
    );
    this.#earlierUuid = new RegExp(`${wholeUuid}uuid${IDENTIFIER}`);
  }

  /** @param text the sorted names and values of `event.params`, joined as they are signed. */
  find(event: AnyEvent, text: string): Ambiguity | undefined {
    const problem = this.#readText(event, text);
    if (problem === undefined) return undefined;
    const { reason, parameter, after = "", before = "", ending, contained = [] } = problem;
    const undeclared = event.params
      .map(([name]) => name)
      .filter((name) => !KNOWN_NAMES.has(name) && !this.#declared.includes(name))
      .toSorted();
    const added =
      undeclared.findLast((name) => name > after && name < before) ??
      undeclared.find((name) => ending !== undefined && name.endsWith(ending));
    if (added !== undefined) return describeUndeclared(added);
    return (
      findHolder(event.params, contained) ??
      findMeeting(event.params, contained) ?? { reason, parameter }
    );
  }

  #readText(event: AnyEvent, text: string): Problem | undefined {
    if (IN_OTHER_PRODUCT.test(text)) {
      const reason = "it contains a parameter of another product";
      return { reason, parameter: ACCOUNT_SID, contained: OTHER_PRODUCT };
    }
    if (
      !text.startsWith("account_sidAC") &&
      !this.#beforeAccount.some((name) => text.startsWith(name))
    ) {
      const reason = "its text does not begin with account_sid";
      return { reason, parameter: ACCOUNT_SID, before: ACCOUNT_SID };
    }
    const places = findSids(text, this.#declared);
    if (!isAt(text, places.account_sid, event.account_sid)) return containsSid("account_sid");
    if (!isAt(text, places.service_sid, event.service_sid)) return containsSid("service_sid");
    const tail = text.slice((places.service_sid || places.account_sid) + SID_CHARACTERS);
    return (
      this.#readTail(event, tail) ??
      (event.version === undefined ? undefined : this.#readUser(event, text, places))
    );
  }

  /** Reads type and uuid, after all text that a device chooses. */
  #readTail(event: AnyEvent, tail: string): Problem | undefined {
    if (!this.#mayHaveNamesAfterType && event.version !== undefined) {
      // No name is between type and uuid, so all of the rest is the uuid.
      const beforeUuid = `type${event.type}uuid`;
      if (tail.startsWith(beforeUuid)) {
        const isSame = tail.length === beforeUuid.length + event.uuid.length;
        return isSame && isUuidUnique(event.uuid) ? undefined : OTHER_UUID;
      }
    }
    const type = findOnly(this.#typePattern, tail, mayBeType);
    if (type?.value !== event.type) {
      return OTHER_TYPE;
    }
    const rest = tail.slice(type.end);
    const uuid = findOnly(this.#uuidPattern, rest, mayBeUuid);
    if (uuid?.value !== event.uuid || !isUuidUnique(event.uuid)) return OTHER_UUID;
    // A parameter after the uuid may end with "uuid" and a text.
    if (uuid.index > 0 && this.#earlierUuid.test(rest.slice(0, uuid.index))) {
      return { ...OTHER_UUID, reason: "the text shows an earlier uuid", before: UUID };
    }
    return undefined;
  }

  /** Reads factor, challenge and identity. */
  #readUser(event: PushEvent, text: string, places: SidPlaces): Problem | undefined {
    if (!isAt(text, places.factor_sid, event.factor_sid)) return containsSid("factor_sid");
    let start = places.account_sid;
    if ("challenge_sid" in event) {
      start = places.challenge_sid;
      if (!isAt(text, start, event.challenge_sid)) return containsSid("challenge_sid");
    }
    const from = text.indexOf(IDENTITY, start) + IDENTITY.length;
    const between = text.slice(from, places.factor_sid - FACTOR_SID.length);
    const friendlyName = between.indexOf(FRIENDLY_NAME);
    // An event of v2 has a friendly name, and an event of v1 has no name of v2.
    if ((friendlyName === -1) === (event.version === "v2")) {
      return { ...contains(FRIENDLY_NAME), parameter: IDENTITY };
    }
    if (friendlyName !== -1 && between.includes(FRIENDLY_NAME, friendlyName + 1)) {
      return contains(FRIENDLY_NAME);
    }
    const values = friendlyName === -1 ? between : between.slice(0, friendlyName);
    let end = values.length;
    let ended = "";
    for (const pattern of this.#afterIdentity[event.version]) {
      const [name, again] = values.matchAll(pattern);
      if (again !== undefined) return contains(again[0]);
      if (name === undefined || name.index >= end) continue;
      end = name.index;
      [ended] = name;
    }
    const identity = event.entity_identity;
    if (identity.length === end && values.startsWith(identity)) {
      return identity.includes(IDENTITY) ? contains(IDENTITY) : undefined;
    }
    const contained = ended === "" ? [] : [ended];
    const reason = "the text shows another entity_identity";
    return { reason, parameter: IDENTITY, after: IDENTITY, before: FACTOR_SID, contained };
  }
}

/**
 * Finds why a signed GET is not a push event: its separators leave one reading, but other products
 * sign URLs that an attacker chooses, and append their parameters.
 */
export function findForeignParameter(
  params: readonly Pair[],
  declared: readonly string[],
): Ambiguity | undefined {
  for (const [name, value] of params) {
    const found = findHolder([[name, `${name}=${value}`]], [...OTHER_PRODUCT, "account_sidAC"]);
    if (found !== undefined) return found;
    if (!KNOWN_NAMES.has(name) && !declared.includes(name)) return describeUndeclared(name);
  }
  return undefined;
}

/** A difference between a text and an event. */
interface Problem {
  reason: string;
  /** The parameter whose value the text does not show, if no other one explains it. */
  parameter: string;
  /** Between which names an added parameter explains it. */
  after?: string;
  before?: string;
  /** How else the name of one may end. */
  ending?: string;
  /** Texts that explain it if a value contains one. */
  contained?: readonly string[];
}

/** Where the SID of each parameter begins; 0 if there is none, NaN if there is more than one. */
type SidPlaces = Record<"account_sid" | "challenge_sid" | "factor_sid" | "service_sid", number>;

/**
 * Finds the SIDs by their names: each occurs once, and `account_sid=A`, as in a GET, never. Skips
 * declared parameters whose names end like one of the four.
 */
function findSids(text: string, declared: readonly string[]): SidPlaces {
  const places = { account_sid: 0, challenge_sid: 0, factor_sid: 0, service_sid: 0 };
  // One search for the common part of the four names.
  for (let at = text.indexOf("_sid"); at !== -1; at = text.indexOf("_sid", at + 1)) {
    const sidAt = at + "_sid".length;
    const prefix = text.slice(sidAt, sidAt + 2);
    if (prefix === "=A" && text.endsWith(ACCOUNT_SID, sidAt)) places.account_sid = Number.NaN;
    const name = SID_NAMES.get(prefix);
    if (name === undefined || !text.endsWith(name, sidAt)) continue;
    if (endsWithLonger(text, sidAt, name, declared)) continue;
    places[name] = places[name] === 0 ? sidAt : Number.NaN;
  }
  return places;
}

function endsWithLonger(text: string, end: number, name: string, names: readonly string[]) {
  for (const longer of names) {
    if (longer.endsWith(name) && text.endsWith(longer, end)) return true;
  }
  return false;
}

const OTHER_TYPE: Problem = {
  reason: "the text shows another type",
  parameter: TYPE,
  after: TYPE,
  before: UUID,
  ending: TYPE,
  contained: PUSH_EVENT_TYPES.map((type) => TYPE + type),
};
const OTHER_UUID: Problem = {
  reason: "the text shows another uuid",
  parameter: UUID,
  after: TYPE,
  before: LAST,
};

function contains(text: string): Problem {
  return { reason: `the text contains ${text} twice`, parameter: text, contained: [text] };
}

function containsSid(name: keyof SidPlaces): Problem {
  const prefixes = [...SID_NAMES].flatMap(([prefix, one]) => (one === name ? [prefix] : []));
  const contained = [...prefixes, "=A"].map((prefix) => name + prefix);
  return { reason: `the text contains ${name} and a SID twice`, parameter: name, contained };
}

/** Returns whether a parameter has one SID, which the event has too; undefined: both have none. */
function isAt(text: string, at: number, sid: string | undefined): boolean {
  return sid === undefined ? at === 0 : at > 0 && text.startsWith(sid, at);
}

/**
 * Finds the only match of a global pattern; undefined for none, and for several. Its first group is
 * undefined in a match within a longer name. With `subtype` and `zuuid` declared:
 *
 * - `subtypechallenge.approvedtypechallenge.denied` has two: a value may end with `sub`.
 * - `subtypehometypechallenge.denied` has one: `home` is no type.
 * - `uuid<UUID>zuuid<UUID>` has one, which begins the text: no value can contain it.
 */
function findOnly(pattern: RegExp, text: string, isPlausible: (value: string) => boolean) {
  let found: { index: number; end: number; value: string } | undefined;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [all, whole, known, other] = match;
    const { index } = match;
    // Matches may overlap.
    pattern.lastIndex = index + 1;
    const value = known ?? other ?? "";
    if (whole === undefined && index > 0 && (found?.index === 0 || !isPlausible(value))) continue;
    if (found !== undefined) return undefined;
    found = { index, end: index + all.length, value };
  }
  return found;
}

/** Writes the part of a pattern before a name that excludes the places where it is part of a longer one. */
function excludeLonger(name: string, names: readonly string[]): string {
  const excluded: string[] = [];
  for (const longer of names) {
    for (let at = longer.indexOf(name); at !== -1; at = longer.indexOf(name, at + 1)) {
      if (longer === name) continue;
      const [before, after] = [longer.slice(0, at), longer.slice(at)].map(escapePattern);
      excluded.push(`(?!(?<=${before})${after})`);
    }
  }
  return excluded.join("");
}

/**
 * Returns whether a uuid cannot be a shorter one and the parameters after it: a text that begins
 * with an identifier (a UUID, 32 hexadecimal digits or a SID) and goes on with a character from `u`
 * on, such as `<UUID>-retry`, can.
 */
export function isUuidUnique(uuid: string): boolean {
  return !MAY_CONTAIN_NAME.test(uuid);
}

/** Finds the parameter whose value contains one of the texts. */
function findHolder(params: readonly Pair[], texts: readonly string[]): Ambiguity | undefined {
  for (const text of texts) {
    const [holder] = params.find(([, value]) => value.includes(text)) ?? [];
    if (holder === undefined) continue;
    const parameter = showName(holder);
    return { reason: `${parameter ?? "a parameter"} contains ${text}`, parameter };
  }
  return undefined;
}

/** Finds the parameter in which one of the texts begins that goes on in the next name or value. */
function findMeeting(params: readonly Pair[], texts: readonly string[]): Ambiguity | undefined {
  const pairs = params.toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [index, [name, value]] of pairs.entries()) {
    const next = pairs[index + 1] ?? [""];
    for (const text of texts) {
      // From its second character on: a text that a name begins with is the name.
      const at = (name + value + next[0]).indexOf(text, 1);
      if (at === -1 || at >= name.length + value.length) continue;
      const parameter = showName(name);
      const shown = parameter ?? "a parameter";
      return {
        reason: `${shown} contains ${text} where its name and value, or the next name, meet`,
        parameter,
      };
    }
  }
  return undefined;
}

function describeUndeclared(name: string): Ambiguity {
  const parameter = showName(name);
  const shown = parameter === undefined ? "a parameter" : `the parameter ${parameter}`;
  const fix = "add its name to the option extraParameters, or set confirm";
  return { reason: `${shown} is not declared; if the service sends it, ${fix}`, parameter };
}

/** An attacker may cut a name out of the values of a captured request, so only short words are shown. */
function showName(name: string): string | undefined {
  return /^[\p{L}\p{M}\p{N}_. -]{1,40}$/u.test(name) ? name : undefined;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
