import type { Pair } from "../../kit/pairs";

/** The parameters that every event has, in the order of the specification (section 6.3). */
const COMMON = [
  "uuid",
  "type",
  "account_sid",
  "service_sid",
  "entity_identity",
  "factor_sid",
] as const;

/** The parameters of v1, in the order of the specification (section 6.3). */
const V1_PARAMETERS = [...COMMON, "challenge_sid"] as const;

/** The parameters of v2, in the order of the specification (section 6.2). */
export const V2_PARAMETERS = [
  ...COMMON,
  "factor_type",
  "factor_friendly_name",
  "factor_metadata",
  "challenge_sid",
  "challenge_details",
  "challenge_hidden_details",
  "challenge_metadata",
] as const;

/** The name of a parameter of the specification. */
type ParameterName = (typeof V2_PARAMETERS)[number];

/** Also the names of v1. */
export const KNOWN_NAMES: ReadonlySet<string> = new Set(V2_PARAMETERS);

/** Returns the specified name that a part of a text is, without a copy of the part. */
export function findKnownName(text: string, start: number, end: number): ParameterName | undefined {
  for (const name of V2_PARAMETERS) {
    if (name.length === end - start && text.startsWith(name, start)) return name;
  }
  return undefined;
}

/** The text of each parameter of an event; undefined omits the parameter. */
type EventParameters = Partial<Record<ParameterName, string | undefined>>;

/** The version of an event: which parameters the service sends (specification, section 9). */
export type PushEventVersion = "v1" | "v2";

/** Returns whether events of a type have a parameter: factor events have no `challenge_*`. */
export function hasParameter(type: string, name: string): boolean {
  return !name.startsWith("challenge_") || !type.startsWith("factor.");
}

/** Lists the parameters that events of a type and version have (sections 6.2 and 6.3). */
export function listParameterNames(type: string, version: PushEventVersion) {
  const names: readonly ParameterName[] = version === "v1" ? V1_PARAMETERS : V2_PARAMETERS;
  return names.filter((name) => hasParameter(type, name));
}

/** Lists the parameters of the type and version of an event that have a text. */
export function listEventPairs(version: PushEventVersion, parameters: EventParameters): Pair[] {
  return listParameterNames(parameters.type ?? "", version).flatMap((name) => {
    const text = parameters[name];
    return text === undefined ? [] : [[name, text] as const];
  });
}
