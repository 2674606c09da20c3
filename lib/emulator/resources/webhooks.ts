import type { PushEventType } from "../../event/event";
import { formatIso8601, readSeconds } from "./dates";
import type { EmulatorSettings } from "../options";
import { dropUndefined, validateFields, webhookFieldsSchema } from "./schemas";
import { createSid } from "./sids";
import type { NewWebhook, StoredWebhook } from "./webhook";

type WebhookSettings = Pick<
  EmulatorSettings,
  "accountSid" | "serviceSid" | "webhookMethod" | "now"
>;

/** Stored webhooks of the service. */
export type StoredWebhooks = ReturnType<typeof createWebhooks>;

/**
 * Creates the webhooks of the service. Its methods return live webhooks, which `change` changes, and
 * throw EmulatorError 60200 for an invalid field.
 */
export function createWebhooks({ accountSid, serviceSid, webhookMethod, now }: WebhookSettings) {
  const webhooks = new Map<string, StoredWebhook>();

  return {
    create(webhook: NewWebhook): StoredWebhook {
      const fields = validateFields(webhookFieldsSchema, {
        friendly_name: "emulator",
        event_types: ["*"],
        status: "enabled",
        version: "v2",
        webhook_method: webhookMethod,
        ...dropUndefined(webhook),
      });
      const date = formatIso8601(readSeconds(now));
      const created = {
        sid: createSid("YW"),
        service_sid: serviceSid,
        account_sid: accountSid,
        ...fields,
        date_created: date,
        date_updated: date,
      };
      webhooks.set(created.sid, created);
      return created;
    },
    find: (sid: string) => webhooks.get(sid),
    change(webhook: StoredWebhook, change: Partial<NewWebhook>): void {
      const fields = validateFields(webhookFieldsSchema.partial(), dropUndefined(change));
      if (Object.keys(fields).length === 0) return;
      Object.assign(webhook, fields, { date_updated: formatIso8601(readSeconds(now)) });
    },
    remove: ({ sid }: StoredWebhook) => void webhooks.delete(sid),
    list: () => webhooks.values(),
    /** Lists the enabled webhooks that subscribe to a type of event (section 6.4). */
    listFor: (type: PushEventType) =>
      [...webhooks.values()].filter(
        ({ status, event_types }) =>
          status === "enabled" && (event_types.includes("*") || event_types.includes(type)),
      ),
  };
}
