import type { PushEventType } from "../../index";

/** What a Webhook subscribes to; `*` means all (section 2.3). */
export type WebhookEventType = "*" | PushEventType;

/**
 * Webhook of the verification service (specification, section 2.3). The service may add values to those
 * that are listed. A field that it did not send is null; one that is not listed is kept, without a type.
 */
export interface Webhook {
  /** YW and 32 hexadecimal digits. */
  readonly sid: string;
  /** VA and 32 hexadecimal digits. */
  readonly service_sid: string | null;
  /** AC and 32 hexadecimal digits. */
  readonly account_sid: string | null;
  /** A description, without personal data. */
  readonly friendly_name: string | null;
  /** Each a {@link WebhookEventType}. */
  readonly event_types: readonly string[] | null;
  /** `enabled` or `disabled`; a disabled Webhook sends no requests (section 3.2). */
  readonly status: string | null;
  /** Version of its events: `v2`, or `v1`, which is legacy (sections 6.2, 6.3). */
  readonly version: string | null;
  /** The absolute URL that webhook requests are sent to, and signed with. */
  readonly webhook_url: string | null;
  /** `POST` or `GET`. */
  readonly webhook_method: string | null;
  /** ISO 8601, GMT, whole seconds: `new Date(webhook.date_created)` reads it. */
  readonly date_created: string | null;
  /** ISO 8601, GMT, whole seconds. */
  readonly date_updated: string | null;
  /** The absolute URL of this resource. */
  readonly url: string | null;
}

/** Parameters to create a Webhook (section 4.2). */
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

/** Parameters to update a Webhook; `event_types` replace the current ones (section 4.2). */
export type WebhookChange = {
  readonly [Name in keyof WebhookInput]?: WebhookInput[Name] | undefined;
};

/** Receiver to compare with the Webhooks, such as the result of `pushWebhooks()`. */
export interface Receiver {
  /** The URL that signatures are verified with. */
  readonly publicUrl: string;
  /** All URLs of the receiver while a domain moves. @default publicUrl alone */
  readonly publicUrls?: readonly string[] | undefined;
  /** Methods that the receiver accepts. @default ["POST"] */
  readonly methods?: readonly string[] | undefined;
  /** Returns the types that have a handler. */
  handledTypes(): readonly PushEventType[];
}

/** One difference between a Webhook and a receiver (configuration drift). */
export interface Finding {
  /**
   * - `NOT_CONFIGURED`: no Webhook has the URL of the receiver.
   * - `URL_DIFFERS`: a Webhook has a similar URL, such as with another scheme.
   * - `URL_EXTENDS`: the URL of another Webhook begins with the URL of the receiver.
   * - `DUPLICATE`: another enabled Webhook of the URL sends some of its events.
   * - `DISABLED`: the Webhook is disabled, and no other one sends its events.
   * - `METHOD_DIFFERS`: the receiver rejects the method of the Webhook, which the API cannot change.
   * - `VERSION_LEGACY`: the Webhook sends v1.
   * - `EVENT_NOT_SUBSCRIBED`: the receiver handles an event that no Webhook of it sends.
   * - `EVENT_NOT_HANDLED`: the Webhook sends an event that the receiver does not handle.
   */
  readonly code:
    | "NOT_CONFIGURED"
    | "URL_DIFFERS"
    | "URL_EXTENDS"
    | "DUPLICATE"
    | "DISABLED"
    | "METHOD_DIFFERS"
    | "VERSION_LEGACY"
    | "EVENT_NOT_SUBSCRIBED"
    | "EVENT_NOT_HANDLED";
  /** SID of the Webhook; undefined for `NOT_CONFIGURED`. */
  readonly sid: string | undefined;
  /** The type that `EVENT_NOT_SUBSCRIBED` and `EVENT_NOT_HANDLED` are about. */
  readonly eventType?: PushEventType | undefined;
  /** The types of `DUPLICATE`. */
  readonly sharedTypes?: readonly string[] | undefined;
  /**
   * What mends it at the Webhook `sid`: `webhooks.update(sid, change)`, `webhooks.delete(sid)`, or a
   * new Webhook with its fields, and then its deletion. Undefined where a person has to decide.
   */
  readonly mend?:
    | { readonly action: "update"; readonly change: WebhookChange }
    | { readonly action: "delete" | "replace" }
    | undefined;
  readonly message: string;
  readonly fix: string;
}

/** Result of `webhooks.ensure`, and the Webhook after it. */
export interface Ensured {
  readonly result: "created" | "updated" | "unchanged";
  readonly webhook: Webhook;
  /**
   * Differences that a person has to resolve: `METHOD_DIFFERS` when the Webhook does not use POST,
   * `DUPLICATE` when several Webhooks of the URL send an event, and `URL_EXTENDS` for each other
   * Webhook whose URL begins with this one.
   */
  readonly findings: readonly Finding[];
}
