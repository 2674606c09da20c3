import type { CallVersion } from "../call-parameters";
import type { PushEventOf, PushEventType } from "../event";
import { parsePayload } from "../payload";
import { listEventParams, type EventOverrides } from "./event-params";

/**
 * Makes an event as handlers get it, with realistic fields and a fresh uuid, for tests that call a
 * handler itself.
 *
 * @param version default `"v2"`.
 * @throws TypeError for a type or a parameter that does not exist; WebhookError `PAYLOAD_INVALID`
 *   when the overrides make it a call that a receiver refuses.
 */
export function eventFixture<Type extends PushEventType, Version extends CallVersion = "v2">(
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  version?: Version,
): Extract<PushEventOf<Type>, { version: Version }> {
  const params = listEventParams(type, overrides, version ?? "v2");
  return parsePayload(params) as Extract<PushEventOf<Type>, { version: Version }>;
}
