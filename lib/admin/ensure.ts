import type { PageQuery } from "./list";
import type { CallOptions } from "./transport";
import type { Webhook, WebhookChange, WebhookInput } from "./webhook";

/** What `webhooks.ensure` did, and the Webhook that there is now. */
export interface Ensured {
  readonly result: "created" | "updated" | "unchanged";
  readonly webhook: Webhook;
}

/** The calls that it takes. */
export interface WebhookCalls {
  list(query: PageQuery): AsyncIterable<Webhook>;
  create(input: WebhookInput, options: CallOptions): Promise<Webhook>;
  update(sid: string, input: WebhookChange, options: CallOptions): Promise<Webhook>;
  delete(sid: string, options: CallOptions): Promise<void>;
}

/**
 * Makes sure that there is a Webhook for a URL and that it is as given.
 *
 * The oldest Webhook for the URL counts; others for it are left alone. Deploys at the same time
 * may each create one: each looks again after that and deletes its own unless it is the oldest.
 * Two are left only if both were created within one second; `webhooks.check` finds that.
 */
export async function ensureWebhook(
  webhooks: WebhookCalls,
  input: WebhookInput,
  signal: AbortSignal | undefined,
): Promise<Ensured> {
  const existing = await findOldest(webhooks, input.webhook_url, signal);
  if (existing !== undefined) return alignWebhook(webhooks, existing, input, signal);

  const created = await webhooks.create(input, { signal });
  const oldest = (await findOldest(webhooks, input.webhook_url, signal)) ?? created;
  if (oldest.sid === created.sid) return { result: "created", webhook: created };
  await webhooks.delete(created.sid, { signal });
  return alignWebhook(webhooks, oldest, input, signal);
}

async function findOldest(
  webhooks: WebhookCalls,
  webhookUrl: string,
  signal: AbortSignal | undefined,
): Promise<Webhook | undefined> {
  let oldest: Webhook | undefined;
  for await (const webhook of webhooks.list({ pageSize: 1000, signal })) {
    if (webhook.webhook_url !== webhookUrl) continue;
    if (oldest === undefined || compareAge(webhook, oldest) < 0) oldest = webhook;
  }
  return oldest;
}

function compareAge(a: Webhook, b: Webhook): number {
  const [createdA, createdB] = [a, b].map((one) => Date.parse(one.date_created ?? "") || 0);
  if (createdA !== createdB) return (createdA ?? 0) - (createdB ?? 0);
  return a.sid < b.sid ? -1 : 1;
}

async function alignWebhook(
  webhooks: WebhookCalls,
  webhook: Webhook,
  input: WebhookInput,
  signal: AbortSignal | undefined,
): Promise<Ensured> {
  const differences = Object.entries(input).filter(
    ([name, value]) => value !== undefined && !isSame(Reflect.get(webhook, name), value),
  );
  if (differences.length === 0) return { result: "unchanged", webhook };
  const change = Object.fromEntries(differences);
  return { result: "updated", webhook: await webhooks.update(webhook.sid, change, { signal }) };
}

/** Lists are equal in any order: they are sets of events. */
function isSame(current: unknown, wanted: unknown): boolean {
  if (!Array.isArray(current) || !Array.isArray(wanted)) return current === wanted;
  const [a, b] = [new Set(current as unknown[]), new Set(wanted as unknown[])];
  return a.size === b.size && [...a].every((one) => b.has(one));
}
