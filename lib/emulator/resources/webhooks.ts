import type { PushEventType } from "../../index";
import { formatIso8601 } from "./dates";
import type { EmulatorSettings, NewWebhook } from "../options";
import { newWebhookSchema, validateFields } from "./schemas";
import { createSid } from "../../kit/sid";

/** Webhook as responses show it (specification, section 2.3). */
export interface WebhookResource {
  sid: string;
  service_sid: string;
  account_sid: string;
  friendly_name: string;
  event_types: string[];
  status: "enabled" | "disabled";
  version: "v1" | "v2";
  webhook_url: string;
  webhook_method: "GET" | "POST";
  date_created: string;
  date_updated: string;
  url: string;
}

export type StoredWebhook = Omit<WebhookResource, "url">;

export type StoredWebhooks = ReturnType<typeof createWebhooks>;

/**
 * Creates the webhooks of the service. Its methods return live webhooks, which `change` changes, and
 * throw EmulatorError 60200 for an invalid field.
 */
export function createWebhooks({ accountSid, serviceSid, webhookMethod, now }: EmulatorSettings) {
  const webhooks = new Map<string, StoredWebhook>();

  return {
    create(webhook: NewWebhook): StoredWebhook {
      const { webhook_method = webhookMethod, ...fields } = validateFields(
        newWebhookSchema,
        webhook,
      );
      const date = formatIso8601(now());
      const created = {
        sid: createSid("YW"),
        service_sid: serviceSid,
        account_sid: accountSid,
        ...fields,
        webhook_method,
        date_created: date,
        date_updated: date,
      };
      webhooks.set(created.sid, created);
      return created;
    },
    find: (sid = "") => webhooks.get(sid),
    change(webhook: StoredWebhook, change: object): void {
      if (Object.keys(change).length === 0) return;
      Object.assign(webhook, change, { date_updated: formatIso8601(now()) });
    },
    remove: ({ sid }: StoredWebhook) => void webhooks.delete(sid),
    list: (): Iterable<StoredWebhook> => webhooks.values(),
    /** Lists the enabled webhooks that subscribe to a type of event (section 6.4). */
    listFor: (type: PushEventType) =>
      [...webhooks.values()].filter(
        ({ status, event_types }) =>
          status === "enabled" && (event_types.includes("*") || event_types.includes(type)),
      ),
  };
}
