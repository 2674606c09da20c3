import { findExtending, findMethod } from "./configuration-drift";
import type { Ensured, Webhook, WebhookInput } from "./webhook";

interface Options {
  signal: AbortSignal | undefined;
}

/** The operations of the client that {@link ensureWebhook} uses. */
interface WebhookOperations {
  list(options: Options & { pageSize: number }): AsyncIterable<Webhook>;
  create(input: WebhookInput, options: Options): Promise<Webhook>;
  update(sid: string, change: Partial<WebhookInput>, options: Options): Promise<Webhook>;
  delete(sid: string, options: Options): Promise<void>;
}

/**
 * Creates the Webhook of a URL, or changes the fields that differ.
 *
 * Uses the oldest Webhook of the URL and changes no other. Deployments at the same time may each
 * create one: each then lists again, and deletes its own Webhook unless it is the oldest. Two
 * remain only if both were created within one second; `webhooks.check` reports these.
 */
export async function ensureWebhook(
  webhooks: WebhookOperations,
  input: WebhookInput,
  signal: AbortSignal | undefined,
): Promise<Ensured> {
  let all: Webhook[] = [];

  async function findOldest(): Promise<Webhook | undefined> {
    all = [];
    for await (const webhook of webhooks.list({ pageSize: 1000, signal })) all.push(webhook);
    const [oldest] = all
      .filter(({ webhook_url }) => webhook_url === input.webhook_url)
      .toSorted(compareAge);
    return oldest;
  }

  function finish(result: Ensured["result"], webhook: Webhook): Ensured {
    const findings = [...findMethod(webhook), ...findExtending(all, [input.webhook_url])];
    return { result, webhook, findings };
  }

  async function alignWebhook(webhook: Webhook): Promise<Ensured> {
    const differences = Object.entries(input).filter(
      ([name, value]) => value !== undefined && !isSame(Reflect.get(webhook, name), value),
    );
    if (differences.length === 0) return finish("unchanged", webhook);
    const change = Object.fromEntries(differences);
    return finish("updated", await webhooks.update(webhook.sid, change, { signal }));
  }

  const existing = await findOldest();
  if (existing !== undefined) return alignWebhook(existing);
  const created = await webhooks.create(input, { signal });
  const oldest = (await findOldest()) ?? created;
  if (oldest.sid === created.sid) return finish("created", created);
  await webhooks.delete(created.sid, { signal });
  return alignWebhook(oldest);
}

function compareAge(a: Webhook, b: Webhook): number {
  const [createdA, createdB] = [a, b].map((one) => Date.parse(one.date_created ?? "") || 0);
  if (createdA !== createdB) return (createdA ?? 0) - (createdB ?? 0);
  return a.sid < b.sid ? -1 : 1;
}

/** Compares a field; the order of a list does not matter, since it is a set of event types. */
function isSame(current: unknown, wanted: unknown): boolean {
  if (!Array.isArray(current) || !Array.isArray(wanted)) return current === wanted;
  const [a, b] = [new Set(current as unknown[]), new Set(wanted as unknown[])];
  return a.size === b.size && [...a].every((one) => b.has(one));
}
