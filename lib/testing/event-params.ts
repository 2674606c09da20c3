import {
  listCallParams,
  V1_PARAMETERS,
  V2_PARAMETERS,
  type CallFields,
  type CallVersion,
} from "../call-parameters";
import { PUSH_EVENT_TYPES, type ChallengeDetails, type PushEventType } from "../event";
import type { Pair } from "../form";
import { suggestName } from "../option-rules";
import { FIXTURES } from "./fixtures";

/** The parameters of v1 that may be overridden; undefined leaves one out. */
interface V1FactorOverrides {
  /** @default fresh each time */
  uuid?: string | undefined;
  /** For types that do not exist yet. @default the type that is asked for */
  type?: string | undefined;
  account_sid?: string | undefined;
  service_sid?: string | undefined;
  entity_identity?: string | undefined;
  factor_sid?: string | undefined;
}

interface V1ChallengeOverrides extends V1FactorOverrides {
  challenge_sid?: string | undefined;
}

/** The parameters that only v2 has; a JSON parameter is an object, or a string sent as it is. */
interface V2FactorOverrides extends V1FactorOverrides {
  factor_type?: string | undefined;
  factor_friendly_name?: string | undefined;
  factor_metadata?: Record<string, string> | string | undefined;
}

interface V2ChallengeOverrides extends V2FactorOverrides {
  challenge_sid?: string | undefined;
  challenge_details?: ChallengeDetails | string | undefined;
  challenge_hidden_details?: Record<string, unknown> | string | undefined;
  challenge_metadata?: Record<string, string> | string | undefined;
}

/** What of a call may be other than its fixture: the parameters of its type and version. */
export type EventOverrides<
  Type extends PushEventType,
  Version extends CallVersion = "v2",
> = Version extends "v1"
  ? Type extends `challenge.${string}`
    ? V1ChallengeOverrides
    : V1FactorOverrides
  : Type extends `challenge.${string}`
    ? V2ChallengeOverrides
    : V2FactorOverrides;

/**
 * Lists the parameters of a call: those of its fixture, overridden.
 *
 * @throws TypeError for a type or a parameter that does not exist in this version.
 */
export function listEventParams(
  type: PushEventType,
  overrides: object,
  version: CallVersion,
): Pair[] {
  if (!Object.hasOwn(FIXTURES, type)) {
    throw new TypeError(
      `There is no event type ${JSON.stringify(type)}.${suggestName(type, PUSH_EVENT_TYPES)} For one that does not exist yet, override the parameter type.`,
    );
  }
  if (!["v1", "v2"].includes(version)) {
    throw new TypeError(`There is no version ${JSON.stringify(version)}: use "v1" or "v2".`);
  }
  const names = listNames(type, version);
  for (const name of Object.keys(overrides)) {
    if (names.includes(name)) continue;
    throw new TypeError(
      `A ${version} call of ${type} has no parameter ${JSON.stringify(name)}.${suggestName(name, names)} The parameters are: ${names.join(", ")}; give others in the option extraParams.`,
    );
  }
  const texts = Object.entries(overrides).map(([name, value]) => [name, toText(value)]);
  const given = Object.fromEntries(texts) as CallFields;
  const fields = { uuid: crypto.randomUUID(), ...FIXTURES[type], ...given };
  const choice = listCallParams(version, { ...fields, type });
  // The presence rules go by the type that was asked for, also when `type` is overridden.
  return choice.flatMap(([name, value]) => {
    if (name !== "type") return [[name, value] as const];
    return fields.type === undefined ? [] : [[name, fields.type] as const];
  });
}

function listNames(type: PushEventType, version: CallVersion): readonly string[] {
  const names = version === "v1" ? V1_PARAMETERS : V2_PARAMETERS;
  return names.filter((name) => type.startsWith("challenge.") || !name.startsWith("challenge_"));
}

function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  return JSON.stringify(value);
}
