import type { PushEventVersion } from "../form/parameters";
import type { PushEventOf, PushEventType } from "../event/event";
import { parseEvent } from "../event/parse";
import { listFixturePairs, type EventOverrides } from "./event-params";

/** Options of {@link eventFixture}. */
export interface EventFixtureOptions<Version extends PushEventVersion = PushEventVersion> {
  /** @default "v2" */
  version?: Version | undefined;
}

/**
 * Creates an event as handlers receive it, with realistic fields and a new uuid, for tests that
 * call a handler directly.
 *
 * @param overrides parameters with other values; undefined omits one.
 * @throws TypeError for a type or a parameter that is unknown; WebhookError `PAYLOAD_INVALID` when
 *   a receiver would reject the overrides.
 */
export function eventFixture<Type extends PushEventType, Version extends PushEventVersion = "v2">(
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  { version }: EventFixtureOptions<Version> = {},
): PushEventOf<Type, Version> {
  const params = listFixturePairs(type, overrides, version ?? "v2");
  return parseEvent(params) as PushEventOf<Type, Version>;
}
