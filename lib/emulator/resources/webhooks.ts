import { z } from "zod";
import { PUSH_EVENT_TYPES, type PushEventType } from "../../event/event";
import { isHttpUrl } from "../../form/url";
import { formatIso8601, readSeconds, type Clock } from "./dates";
import { validateFields } from "./schemas";
import type { ListRules } from "./pagination";
import { createSid } from "./sids";
import type { NewWebhook, StoredWebhook, WebhookFields, WebhookResource } from "./webhook";

/** The schema of `WebhookFields` (specification, sections 2.3 and 4.2). */
export const webhookFieldsSchema = z.strictObject({
  friendly_name: z.string().min(1),
  event_types: z.array(z.enum(["*", ...PUSH_EVENT_TYPES])).min(1),
  webhook_url: z.string().refine(isHttpUrl, "must be an absolute http or https URL"),
  status: z.enum(["enabled", "disabled"]),
  version: z.enum(["v1", "v2"]),
  webhook_method: z.enum(["GET", "POST"]),
});

/** Order of webhooks: the oldest `date_created` first, then by SID (section 2.4). */
export const WEBHOOK_LIST: ListRules = {
  prefix: "YW",
  sortedBy: "createdSeconds",
  newestFirst: false,
  invalid: {
    PageSize: "WEBHOOK_REQUEST_INVALID",
    Page: "WEBHOOK_REQUEST_INVALID",
    PageToken: "WEBHOOK_REQUEST_INVALID",
  },
};

/** Stored webhooks of the service. */
export type StoredWebhooks = ReturnType<typeof createWebhooks>;

/**
 * Creates the webhooks of the service. Its methods return live webhooks, which `change` changes, and
 * throw EmulatorError 60200 for an invalid field.
 *
 * @param webhookMethod the method of webhooks that do not set one.
 */
export function createWebhooks(now: Clock, webhookMethod: "GET" | "POST") {
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
      const seconds = readSeconds(now);
      const sid = createSid("YW");
      const created = { ...fields, sid, createdSeconds: seconds, updatedSeconds: seconds };
      webhooks.set(sid, created);
      return created;
    },
    find: (sid: string) => webhooks.get(sid),
    change(webhook: StoredWebhook, change: Partial<WebhookFields>): void {
      const fields = validateFields(webhookFieldsSchema.partial(), change);
      if (Object.keys(fields).length === 0) return;
      Object.assign(webhook, fields, { updatedSeconds: readSeconds(now) });
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

function dropUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The account and the verification service that own the webhooks. */
export interface WebhookOwner {
  accountSid: string;
  serviceSid: string;
}

/** Returns the fields of a webhook that responses show (section 2.3), without its `url`. */
export function toWebhookFields(
  webhook: StoredWebhook,
  owner: WebhookOwner,
): Omit<WebhookResource, "url"> {
  const { sid, createdSeconds, updatedSeconds, event_types, ...fields } = webhook;
  return {
    sid,
    service_sid: owner.serviceSid,
    account_sid: owner.accountSid,
    ...fields,
    event_types: [...event_types],
    date_created: formatIso8601(createdSeconds),
    date_updated: formatIso8601(updatedSeconds),
  };
}
