/** An event type that a Webhook can subscribe to; `*` stands for all (section 2.3). */
export type WebhookEventType =
  | "*"
  | "factor.created"
  | "factor.verified"
  | "factor.deleted"
  | "challenge.approved"
  | "challenge.denied";

/**
 * A Webhook as the service shows it (specification, section 2.3). Where the specification lists
 * values, the service may add others: those fields are plain strings. A field that the service did
 * not send is null; one that is not listed here is kept, without a type.
 */
export interface Webhook {
  /** YW and 32 hexadecimal digits. */
  readonly sid: string;
  /** The verification service that it belongs to: VA and 32 hexadecimal digits. */
  readonly service_sid: string | null;
  /** The account of that service: AC and 32 hexadecimal digits. */
  readonly account_sid: string | null;
  /** A description, without personal data. */
  readonly friendly_name: string | null;
  /** The event types that it subscribes to: each a {@link WebhookEventType}. */
  readonly event_types: readonly string[] | null;
  /** `enabled` or `disabled`; a disabled one sends nothing (section 3.2). */
  readonly status: string | null;
  /** The set of parameters that it sends: `v2`, or `v1`, which is legacy (sections 6.2, 6.3). */
  readonly version: string | null;
  /** The absolute URL that webhook requests are sent to, and signed with. */
  readonly webhook_url: string | null;
  /** The method of webhook requests: `POST` or `GET`. */
  readonly webhook_method: string | null;
  /** ISO 8601, GMT, whole seconds: `new Date(webhook.date_created)` reads it. */
  readonly date_created: string | null;
  /** ISO 8601, GMT, whole seconds. */
  readonly date_updated: string | null;
  /** The absolute URL of this resource. */
  readonly url: string | null;
}

/** Parameters that a Webhook is created with (section 4.2). */
export interface WebhookInput {
  /** A description, without personal data; not empty. */
  readonly friendly_name: string;
  /** At least one. */
  readonly event_types: readonly WebhookEventType[];
  /** An absolute http or https URL of up to 2048 characters; it is signed byte for byte. */
  readonly webhook_url: string;
  /** @default "enabled", by the service */
  readonly status?: "enabled" | "disabled" | undefined;
  /** @default "v2", by the service */
  readonly version?: "v1" | "v2" | undefined;
}

/** Parameters that a Webhook is changed to: any of those that it is created with (section 4.2). */
export interface WebhookChange {
  readonly friendly_name?: string | undefined;
  /** At least one; they replace the present ones. */
  readonly event_types?: readonly WebhookEventType[] | undefined;
  /** An absolute http or https URL of up to 2048 characters. */
  readonly webhook_url?: string | undefined;
  readonly status?: "enabled" | "disabled" | undefined;
  readonly version?: "v1" | "v2" | undefined;
}
