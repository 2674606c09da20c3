import type { PushEventType } from "../../event/event";

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

/** Stored webhook. */
export type StoredWebhook = Omit<WebhookResource, "url">;

/** Fields of a webhook to create. */
export interface NewWebhook {
  /** The absolute http or https URL of the receiver. */
  webhook_url: string;
  /** @default "emulator" */
  friendly_name?: string | undefined;
  /** Types of events to send; `"*"` means all. @default ["*"] */
  event_types?: readonly ("*" | PushEventType)[] | undefined;
  /** @default "enabled" */
  status?: "enabled" | "disabled" | undefined;
  /** @default "v2" */
  version?: "v1" | "v2" | undefined;
  /** @default the option `webhookMethod` of the emulator */
  webhook_method?: "GET" | "POST" | undefined;
}
