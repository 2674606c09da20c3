import type { Receiver } from "./configuration-drift";
import type { List } from "./list";
import type { RequestOptions } from "./transport";
import type { Ensured, Finding, Webhook, WebhookChange, WebhookInput } from "./webhook";

/**
 * Webhooks of the verification service (section 4.2).
 *
 * @throws (from the methods) ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known;
 *   InputError for a malformed SID and for a parameter that section 4.2 does not allow.
 */
export interface Webhooks extends List<Webhook> {
  /** Fetches a Webhook. */
  fetch(sid: string, options?: RequestOptions): Promise<Webhook>;
  /**
   * Creates a Webhook, by default enabled and of version v2. A second one for the same URL sends each
   * event twice: {@link Webhooks.ensure} creates none.
   */
  create(input: WebhookInput, options?: RequestOptions): Promise<Webhook>;
  /** Changes the given parameters of a Webhook, keeps the others, and returns the Webhook. */
  update(sid: string, input: WebhookChange, options?: RequestOptions): Promise<Webhook>;
  /** Deletes a Webhook: the service sends it no further events. */
  delete(sid: string, options?: RequestOptions): Promise<void>;
  /**
   * Creates the Webhook of `webhook_url`, or changes the fields that differ; idempotent. Concurrent
   * deployments end with one Webhook.
   */
  ensure(input: WebhookInput, options?: RequestOptions): Promise<Ensured>;
  /** Lists the configuration drift between the Webhooks and a receiver. */
  check(receiver: Receiver, options?: RequestOptions): Promise<Finding[]>;
}
