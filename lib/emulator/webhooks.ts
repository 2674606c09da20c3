import { z } from "zod";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event";
import { isHttpUrl } from "../url";
import { formatIso8601, readSeconds, type Clock } from "./dates";
import { checkFields } from "./fields";
import type { ListRules } from "./pages";
import { createSid } from "./sids";
import type { NewWebhook, Webhook, WebhookChange, WebhookResource } from "./webhook";

/** The schema of `WebhookFields` (specification, sections 2.3 and 4.2). */
export const webhookSchema = z.strictObject({
  friendly_name: z.string().min(1),
  event_types: z.array(z.enum(["*", ...PUSH_EVENT_TYPES])).min(1),
  webhook_url: z.string().refine(isHttpUrl, "must be an absolute http or https URL"),
  status: z.enum(["enabled", "disabled"]),
  version: z.enum(["v1", "v2"]),
  webhook_method: z.enum(["GET", "POST"]),
});

/** Webhooks are listed oldest `date_created` first, ties by sid. */
export const WEBHOOK_LIST: ListRules = {
  prefix: "YW",
  compare: (a, b) => a.seconds - b.seconds || (a.sid < b.sid ? -1 : Number(a.sid > b.sid)),
  refusals: {
    pageSize: "WEBHOOK_REQUEST_INVALID",
    page: "WEBHOOK_REQUEST_INVALID",
    pageToken: "WEBHOOK_REQUEST_INVALID",
  },
};

/** The webhooks of the service. */
export interface Webhooks {
  create(webhook: NewWebhook): Webhook;
  find(sid: string): Webhook | undefined;
  change(webhook: Webhook, change: WebhookChange): void;
  remove(webhook: Webhook): void;
  list(): Iterable<Webhook>;
  /** Those that receive a call for an event (specification, section 6.4). */
  listFor(type: PushEventType): Webhook[];
}

/**
 * Makes the service's store of webhooks.
 *
 * @param webhookMethod how webhooks are called that do not say it themselves.
 * @throws EmulatorError (by its methods) 60200 for a field that is wrong.
 */
export function createWebhooks(now: Clock, webhookMethod: "GET" | "POST"): Webhooks {
  const webhooks = new Map<string, Webhook>();

  return {
    create(webhook) {
      const fields = checkFields(webhookSchema, {
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
    find: (sid) => webhooks.get(sid),
    change(webhook, change) {
      const fields = checkFields(webhookSchema.partial(), change);
      if (Object.keys(fields).length === 0) return;
      Object.assign(webhook, fields, { updatedSeconds: readSeconds(now) });
    },
    remove(webhook) {
      webhooks.delete(webhook.sid);
    },
    list: () => webhooks.values(),
    listFor: (type) =>
      [...webhooks.values()].filter(
        ({ status, event_types }) =>
          status === "enabled" && (event_types.includes("*") || event_types.includes(type)),
      ),
  };
}

function dropUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Whose webhooks they are. */
export interface WebhookOwner {
  accountSid: string;
  serviceSid: string;
}

/** A webhook as the service shows it, at the address where the service is reached. */
export function toWebhookResource(
  webhook: Webhook,
  owner: WebhookOwner,
  baseUrl: string,
): WebhookResource {
  const url = `${baseUrl}/v2/Services/${owner.serviceSid}/Webhooks/${webhook.sid}`;
  return { ...toWebhookFields(webhook, owner), url };
}

/** A webhook as the service shows it, without the address. */
export function toWebhookFields(
  webhook: Webhook,
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
