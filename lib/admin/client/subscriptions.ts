import { PUSH_EVENT_TYPES } from "../../event/event";
import type { Finding, Webhook, WebhookEventType } from "./webhook";

/**
 * Lists the findings about the enabled Webhooks of one URL that send events which another one sends:
 * of two, about the one with fewer types, and else about the newer.
 */
export function findDuplicates(webhooks: readonly Webhook[]): Finding[] {
  const enabled = webhooks
    .filter(isEnabled)
    .toSorted((a, b) => countTypes(b) - countTypes(a) || compareAge(a, b));
  return enabled.flatMap((webhook, index) => {
    const before = enabled.slice(0, index);
    const isShared = (type: string) => before.some((one) => sends(one, type));
    const types = listSentTypes(webhook);
    const shared = types.filter(isShared);
    const others = types.filter((type) => !isShared(type));
    if (shared.length === 0) return [];
    const isWhole = others.length === 0;
    return {
      code: "DUPLICATE" as const,
      sid: webhook.sid,
      sharedTypes: shared,
      mend: isWhole
        ? ({ action: "delete" } as const)
        : ({ action: "update", change: { event_types: others } } as const),
      message: `Another enabled Webhook of this URL also sends ${shared.join(", ")}: each of these events is sent twice.`,
      fix: isWhole ? "Delete this Webhook." : "Remove these types from its event_types.",
    };
  });
}

/** Returns whether a Webhook subscribes to an event type, also by `*`. */
export function sends({ event_types }: Webhook, type: string): boolean {
  return event_types !== null && (event_types.includes(type) || event_types.includes("*"));
}

/** Returns whether a Webhook sends requests. */
export function isEnabled({ status }: Webhook): boolean {
  return status === "enabled";
}

/** Compares by age, the oldest first; the service gives whole seconds. */
export function compareAge(a: Webhook, b: Webhook): number {
  const [createdA = 0, createdB = 0] = [a, b].map((one) => Date.parse(one.date_created ?? "") || 0);
  return createdA - createdB;
}

/** Lists the event types that a Webhook sends; those of this package for `*`. */
export function listSentTypes(webhook: Webhook): WebhookEventType[] {
  return sends(webhook, "*")
    ? [...PUSH_EVENT_TYPES]
    : [...((webhook.event_types ?? []) as WebhookEventType[])];
}

function countTypes(webhook: Webhook): number {
  // `*` also sends types that this package does not know.
  return sends(webhook, "*") ? 1_000 : listSentTypes(webhook).length;
}
