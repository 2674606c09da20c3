import type { Pair } from "./form";

/** The parameters of v1, in the order of the specification (section 6.3). */
export const V1_PARAMETERS = [
  "uuid",
  "type",
  "account_sid",
  "service_sid",
  "entity_identity",
  "factor_sid",
  "challenge_sid",
] as const;

/** The parameters of v2, in the order of the specification (section 6.2). */
export const V2_PARAMETERS = [
  "uuid",
  "type",
  "account_sid",
  "service_sid",
  "entity_identity",
  "factor_sid",
  "factor_type",
  "factor_friendly_name",
  "factor_metadata",
  "challenge_sid",
  "challenge_details",
  "challenge_hidden_details",
  "challenge_metadata",
] as const;

/** The text of each parameter of a call; undefined leaves one out. */
export type CallFields = Partial<Record<(typeof V2_PARAMETERS)[number], string | undefined>>;

/** Which parameters a call carries. */
export type CallVersion = "v1" | "v2";

/** Chooses from the fields of an event the pairs that a version carries (sections 6.2 and 6.3). */
export function listCallParams(version: CallVersion, fields: CallFields): Pair[] {
  const challenge = fields.type?.startsWith("factor.") !== true;
  const names = version === "v1" ? V1_PARAMETERS : V2_PARAMETERS;
  return names
    .filter((name) => challenge || !name.startsWith("challenge_"))
    .flatMap((name) => {
      const value = fields[name];
      return value === undefined ? [] : [[name, value] as const];
    });
}
