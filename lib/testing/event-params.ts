import { listParameterNames } from "../form/parameters";
import type { EventParameters, PushEventVersion } from "../form/parameters";
import { PUSH_EVENT_TYPES, type ChallengeDetails, type PushEventType } from "../event/event";
import type { Pair } from "../form/form";
import { suggestName } from "../validation/validate-options";
import { FIXTURES } from "./fixtures";

/** The parameters of v1 that may be overridden; undefined omits one. */
interface V1FactorOverrides {
  /** @default a new one each time */
  uuid?: string | undefined;
  /** Another type, also one that does not exist yet. @default the argument `type` */
  type?: string | undefined;
  account_sid?: string | undefined;
  service_sid?: string | undefined;
  entity_identity?: string | undefined;
  factor_sid?: string | undefined;
}

interface V1ChallengeOverrides extends V1FactorOverrides {
  challenge_sid?: string | undefined;
}

/**
 * The parameters that only v2 has; a JSON parameter is an object, or a string that is sent as is.
 */
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

/** The parameters that may be overridden: those of the type and the version. */
export type EventOverrides<
  Type extends PushEventType,
  Version extends PushEventVersion = "v2",
> = Version extends "v1"
  ? Type extends `challenge.${string}`
    ? V1ChallengeOverrides
    : V1FactorOverrides
  : Type extends `challenge.${string}`
    ? V2ChallengeOverrides
    : V2FactorOverrides;

/**
 * Lists the parameters of an event: those of its fixture with overrides.
 *
 * @throws TypeError for a type that does not exist, or a parameter that the type does not have in
 *   this version.
 */
export function listFixturePairs(
  type: PushEventType,
  overrides: object,
  version: PushEventVersion,
): Pair[] {
  if (!Object.hasOwn(FIXTURES, type)) {
    throw new TypeError(
      `type must be an event type; received ${JSON.stringify(type)}.${suggestName(type, PUSH_EVENT_TYPES)} For a type that does not exist yet, override the parameter type.`,
    );
  }
  if (!["v1", "v2"].includes(version)) {
    throw new TypeError(`version must be "v1" or "v2"; received ${JSON.stringify(version)}.`);
  }
  const names = listParameterNames(type, version);
  for (const name of Object.keys(overrides)) {
    if ((names as readonly string[]).includes(name)) continue;
    throw new TypeError(
      `A ${version} event of type ${type} has no parameter ${JSON.stringify(name)}.${suggestName(name, names)} The parameters are: ${names.join(", ")}; pass others in the option extraParams.`,
    );
  }
  const texts = Object.entries(overrides).map(([name, value]) => [name, toText(value)]);
  const given = Object.fromEntries(texts) as EventParameters;
  const fields = { uuid: crypto.randomUUID(), type, ...FIXTURES[type], ...given };
  return names.flatMap((name) => {
    const text = fields[name];
    return text === undefined ? [] : [[name, text] as const];
  });
}

function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  return JSON.stringify(value);
}
