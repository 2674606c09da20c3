import { type listEventPairs, listParameterNames, signAcceptedRequest } from "../core/door";
import { PUSH_EVENT_TYPES, type PushEvent, type PushEventOf, type PushEventType } from "../index";
import { FORM_CONTENT_TYPES } from "../kit/form-type";
import type { Pair } from "../kit/pairs";
import { describeType, oneOf, suggestName } from "../kit/validate-options";
import { validateOptions, type OptionRules } from "../kit/validate-options";

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
  challenge_sid: "YCb0977f3f759c742acc1f94257f7974b0",
  challenge_details:
    '{"message":"Approve the payment of 250 €?","date":"2024-03-05T10:20:30Z","fields":[{"label":"City","value":"Köln & Bonn"}]}',
  challenge_hidden_details: '{"ip":"203.0.113.77"}',
};

type EventTexts = Parameters<typeof listEventPairs>[1];

/** A parameter that is sent as its text; undefined omits it. */
type Text = string | undefined;

/** A parameter that is sent as JSON: an object, or a string that is sent as it is. */
interface JsonOverrides {
  factor_metadata?: Record<string, string> | Text;
  challenge_details?: PushEventOf<"challenge.approved", "v2">["challenge_details"] | Text;
  challenge_hidden_details?: Record<string, unknown> | Text;
  challenge_metadata?: Record<string, string> | Text;
}

/** By default, `uuid` is a new one each time. `type` may be one that does not exist yet. */
type V2Overrides = JsonOverrides & {
  [Name in Exclude<keyof EventTexts, keyof JsonOverrides>]?: Text;
};
type V1Overrides = Omit<V2Overrides, keyof JsonOverrides | "factor_type" | "factor_friendly_name">;

/** The parameters of the type and the version, any of which may be overridden. */
export type EventOverrides<
  Type extends PushEventType,
  Version extends PushEvent["version"] = "v2",
> = Version extends "v1"
  ? Type extends `challenge.${string}`
    ? V1Overrides
    : Omit<V1Overrides, "challenge_sid">
  : Type extends `challenge.${string}`
    ? V2Overrides
    : Omit<V2Overrides, `challenge_${string}`>;

/** Which event is made. */
export interface EventFixtureOptions<Version extends PushEvent["version"] = PushEvent["version"]> {
  /** @default "v2" */
  version?: Version | undefined;
}

const RECEIVER = {
  authToken: "token-of-event-fixtures",
  publicUrl: "https://app.example.com/webhooks/push",
};

const RULES: OptionRules<EventFixtureOptions> = { version: oneOf("v1", "v2") };

/**
 * Creates an event as handlers receive it, with realistic fields and a new uuid, for tests that
 * call a handler directly.
 *
 * @param overrides parameters with other values; undefined omits one.
 * @throws TypeError for a type, a parameter or an option that is unknown, or a uuid with two readings;
 *   WebhookError with the code of a receiver that would reject the overrides.
 */
export function eventFixture<
  Type extends PushEventType,
  Version extends PushEvent["version"] = "v2",
>(
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  options: EventFixtureOptions<Version> = {},
): PushEventOf<Type, Version> {
  validateOptions<EventFixtureOptions>("eventFixture", options, RULES);
  const params = listFixturePairs(type, overrides, options.version ?? "v2");
  const sent = { method: "POST", contentType: FORM_CONTENT_TYPES[0], params } as const;
  return signAcceptedRequest(RECEIVER, sent).event as PushEventOf<Type, Version>;
}

/**
 * Lists the parameters of the fixture of an event, with overrides.
 *
 * @throws TypeError for a type that does not exist, a parameter that the type does not have in this
 *   version.
 */
export function listFixturePairs(
  type: PushEventType,
  overrides: object,
  version: PushEvent["version"],
): Pair[] {
  if (!PUSH_EVENT_TYPES.includes(type)) {
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
  const uuid = crypto.randomUUID();
  const biometrics = type === "challenge.denied" ? "none" : "face";
  const defaults = { uuid, type, ...FACTOR, ...CHALLENGE, challenge_metadata: { biometrics } };
  const fields: Record<string, unknown> = { ...defaults, ...overrides };
  return names.flatMap((name) => {
    const value = fields[name];
    const text = typeof value === "string" ? value : (JSON.stringify(value) as string | undefined);
    return text === undefined ? [] : [[name, text] as const];
  });
}
