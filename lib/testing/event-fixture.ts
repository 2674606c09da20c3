import type { CallVersion } from "../call-parameters";
import type { PushEventOf, PushEventType } from "../event";
import { parsePayload } from "../payload";
import { listEventParams, type EventOverrides } from "./event-params";

/** How an event is made. */
export interface EventFixtureOptions<Version extends CallVersion = CallVersion> {
  /** @default "v2" */
  version?: Version | undefined;
}

/**
 * Creates an event as handlers receive it, with realistic fields and a fresh uuid, for tests that
 * call a handler itself.
 *
 * @param overrides parameters with other values; undefined leaves one out.
 * @throws TypeError for a type or a parameter that is unknown; WebhookError `PAYLOAD_INVALID` when
 *   the overrides make a request that a receiver rejects.
 */
export function eventFixture<Type extends PushEventType, Version extends CallVersion = "v2">(
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  { version }: EventFixtureOptions<Version> = {},
): PushEventOf<Type, Version> {
  const params = listEventParams(type, overrides, version ?? "v2");
  return parsePayload(params) as PushEventOf<Type, Version>;
}
