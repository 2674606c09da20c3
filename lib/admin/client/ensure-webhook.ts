import { PUSH_EVENT_TYPES } from "../../index";
import {
  findDuplicates,
  findExtending,
  findMethod,
  compareAge,
  isEnabled,
  sends,
} from "./configuration-drift";
import type { Webhooks } from "./resources";
import type { Ensured, Webhook, WebhookInput } from "./webhook";

/**
 * Creates the Webhook of a URL, or changes the fields that differ. Of several it uses an enabled one,
 * one with the same event types, else the oldest, and leaves to the other enabled ones the types that
 * they send. Deployments at the same time may each create one: each then lists again, and deletes its
 * own unless it is the oldest. Two remain if both were created within one second.
 */
export async function ensureWebhook(
  webhooks: Webhooks,
  input: WebhookInput,
  signal: AbortSignal | undefined,
): Promise<Ensured> {
  let all: Webhook[] = [];

  async function findWebhook(): Promise<Webhook | undefined> {
    all = [];
    for await (const webhook of webhooks.list({ pageSize: 1000, signal })) all.push(webhook);
    const [found] = listOwn().toSorted(
      (a, b) => rank(b, input) - rank(a, input) || compareAge(a, b) || (a.sid < b.sid ? -1 : 1),
    );
    return found;
  }

  function listOwn(): Webhook[] {
    return all.filter(({ webhook_url }) => webhook_url === input.webhook_url);
  }

  function finish(result: Ensured["result"], webhook: Webhook): Ensured {
    const own = listOwn().map((one) => (one.sid === webhook.sid ? webhook : one));
    const findings = [
      ...findMethod(webhook),
      ...findDuplicates(own),
      ...findExtending(all, [input.webhook_url]),
    ];
    return { result, webhook, findings };
  }

  /** The types that the other enabled Webhooks of the URL leave to this one. */
  function chooseTypes(webhook: Webhook): readonly string[] | null {
    const others = listOwn().filter((one) => one.sid !== webhook.sid && isEnabled(one));
    if (others.length === 0) return input.event_types;
    const wantsAll = input.event_types.includes("*");
    const wanted = wantsAll ? PUSH_EVENT_TYPES : input.event_types;
    const left = wanted.filter((type) => !others.some((one) => sends(one, type)));
    const isKept = left.length === 0 || (wantsAll && sends(webhook, "*"));
    return isKept ? webhook.event_types : left;
  }

  async function alignWebhook(webhook: Webhook): Promise<Ensured> {
    const wanted = { ...input, event_types: chooseTypes(webhook) };
    const differences = Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && !isSame(Reflect.get(webhook, name), value),
    );
    if (differences.length === 0) return finish("unchanged", webhook);
    const change = Object.fromEntries(differences);
    return finish("updated", await webhooks.update(webhook.sid, change, { signal }));
  }

  const existing = await findWebhook();
  if (existing !== undefined) return alignWebhook(existing);
  const created = await webhooks.create(input, { signal });
  const oldest = (await findWebhook()) ?? created;
  if (oldest.sid === created.sid) return finish("created", created);
  await webhooks.delete(created.sid, { signal });
  all = all.filter(({ sid }) => sid !== created.sid);
  return alignWebhook(oldest);
}

function rank(webhook: Webhook, { event_types }: WebhookInput): number {
  return Number(isEnabled(webhook)) * 2 + Number(isSame(webhook.event_types, event_types));
}

/** A list is a set of event types. */
function isSame(current: unknown, wanted: unknown): boolean {
  if (!Array.isArray(current) || !Array.isArray(wanted)) return current === wanted;
  const [a, b] = [new Set(current as unknown[]), new Set(wanted as unknown[])];
  return a.size === b.size && [...a].every((one) => b.has(one));
}
