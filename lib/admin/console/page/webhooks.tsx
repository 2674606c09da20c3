import type { Finding, Webhook } from "../../client/webhook";
import { WriteButton } from "./action";
import { change, read, readPublicUrl, settings } from "./api";
import { Loader } from "./store";

const MAX_PAGES = 20;

/** All items of a list of the service. */
export async function listAll<Item>(name: string): Promise<Item[]> {
  const items: Item[] = [];
  let query: string | undefined = "?page_size=100";
  for (let page = 0; page < MAX_PAGES && query !== undefined; page++) {
    type Page = { meta: { next_page_url: string | null } } & Record<string, Item[]>;
    const list: Page = await read<Page>(`${name}${query}`);
    items.push(...(list[name] ?? []));
    // Use its query only: behind a proxy, its path may not be that of the page.
    const next: string | undefined = list.meta.next_page_url?.split("?")[1];
    query = next && `?${next}`;
  }
  return items;
}

/** The differences between the webhooks and the receiver. */
export const findings = new Loader(async () => {
  if (settings.receiver === undefined) return [];
  return (await read<{ findings: Finding[] }>("console/findings")).findings;
});

/** The webhooks of the service; their findings are loaded with them. */
export const webhooks = new Loader(async () => {
  const [list] = await Promise.all([listAll<Webhook>("webhooks"), findings.reload()]);
  return list;
});

interface ChangeProps {
  webhook: Webhook;
  label: string;
  body: object;
  class?: string;
}

/** A button that changes a webhook. */
export function ChangeButton({ webhook, label, body, ...button }: ChangeProps) {
  const run = () => change(webhooks, `Done: ${label}.`, "PATCH", `webhooks/${webhook.sid}`, body);
  return <WriteButton label={label} run={run} {...button} />;
}

/** The button that gives a webhook the URL of the receiver; none when its user info is hidden. */
export function UrlButton({ webhook }: { webhook: Webhook }) {
  if (settings.receiver?.isUrlComplete !== true) return null;
  const url = { webhook_url: readPublicUrl() };
  const label = "Set webhook_url to publicUrl";
  return <ChangeButton webhook={webhook} label={label} body={url} class="primary" />;
}
