import { listParameterNames } from "../form/parameters";
import type { EventParameters, PushEventVersion } from "../form/parameters";
import { PUSH_EVENT_TYPES, type ChallengeDetails, type PushEventType } from "../event/event";
import type { Pair } from "../form/form";
import { describeType, suggestName } from "../validation/validate-options";

const FACTOR = {
  account_sid: "AC3c39f4e8dd93bc08628b7433542b06e2",
  service_sid: "VA42251e058e7cf202ea951d873b7fe627",
  entity_identity: "user-7f3a-22",
  factor_sid: "YFd60126124f552c15e13240814185e494",
  factor_type: "push",
  factor_friendly_name: "Zoë's phone",
  factor_metadata: '{"os":"Android","os_version":"14","model":"Pixel + 8"}',
};

const CHALLENGE = {
  ...FACTOR,
  challenge_sid: "YCb0977f3f759c742acc1f94257f7974b0",
  challenge_details:
    '{"message":"Approve the payment of 250 €?","date":"2024-03-05T10:20:30Z","fields":[{"label":"City","value":"Köln & Bonn"}]}',
  challenge_hidden_details: '{"ip":"203.0.113.77"}',
};

/** Realistic parameters of an event of each type, without its type and its uuid. */
const FIXTURES: Readonly<Record<PushEventType, Omit<EventParameters, "uuid" | "type">>> = {
  "factor.created": FACTOR,
  "factor.verified": FACTOR,
  "factor.deleted": FACTOR,
  "challenge.approved": { ...CHALLENGE, challenge_metadata: '{"biometrics":"face"}' },
  "challenge.denied": { ...CHALLENGE, challenge_metadata: '{"biometrics":"none"}' },
};

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
    const given: unknown = type;
    throw new TypeError(
      `type must be an event type; received ${JSON.stringify(type)}.${suggestName(String(given), PUSH_EVENT_TYPES)} For a type that does not exist yet, override the parameter type.`,
    );
  }
  if (typeof overrides !== "object" || (overrides as unknown) === null) {
    throw new TypeError(
      `overrides must be an object of parameters; received ${describeType(overrides)}. Pass {} for none.`,
    );
  }
  const names = listParameterNames(type, version);
  for (const name of Object.keys(overrides)) {
    if ((names as readonly string[]).includes(name)) continue;
    throw new TypeError(
      `A ${version} event of type ${type} has no parameter ${JSON.stringify(name)}.${suggestName(name, names)} The parameters are: ${names.join(", ")}; pass others in the option extraParams.`,
    );
  }
  const defaults = { uuid: crypto.randomUUID(), type, ...FIXTURES[type] };
  const fields: Record<string, unknown> = { ...defaults, ...overrides };
  return names.flatMap((name) => {
    const value = fields[name];
    const text = typeof value === "string" ? value : (JSON.stringify(value) as string | undefined);
    return text === undefined ? [] : [[name, text] as const];
  });
}
