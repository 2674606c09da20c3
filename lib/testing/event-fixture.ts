import type { PushEventVersion } from "../form/parameters";
import type { PushEventOf, PushEventType } from "../event/event";
import { parseEvent } from "../event/parse";
import { oneOf, validateOptions, type OptionRules } from "../validation/validate-options";
import { listFixturePairs, type EventOverrides } from "./event-params";

/** Options of {@link eventFixture}. */
export interface EventFixtureOptions<Version extends PushEventVersion = PushEventVersion> {
  /** @default "v2" */
  version?: Version | undefined;
}

const RULES: OptionRules<EventFixtureOptions> = { version: oneOf("v1", "v2") };

/**
 * Creates an event as handlers receive it, with realistic fields and a new uuid, for tests that
 * call a handler directly.
 *
 * @param overrides parameters with other values; undefined omits one.
 * @throws TypeError for a type, a parameter or an option that is unknown; WebhookError `PAYLOAD_INVALID` when
 *   a receiver would reject the overrides.
 */
export function eventFixture<Type extends PushEventType, Version extends PushEventVersion = "v2">(
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  options: EventFixtureOptions<Version> = {},
): PushEventOf<Type, Version> {
  validateOptions<EventFixtureOptions>("eventFixture", options, RULES);
  const params = listFixturePairs(type, overrides, options.version ?? "v2");
  return parseEvent(params) as PushEventOf<Type, Version>;
}
