import type { Finding, Webhook } from "../../client/webhook";
import { WriteButton } from "./action";
import { change, read, readPublicUrl, settings } from "./api";
import { createLoader } from "./store";

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
export const findings = createLoader(async () => {
  if (settings.receiver === undefined) return [];
  return (await read<{ findings: Finding[] }>("console/findings")).findings;
});

/** The webhooks of the service; their findings are loaded with them. */
export const webhooks = createLoader(async () => {
  const [list] = await Promise.all([listAll<Webhook>("webhooks"), findings.reload()]);
  return list;
});

/** Changes a webhook; returns the announcement. */
export const changeWebhook = (sid: string, body: object, said: string) =>
  change(webhooks, said, "PATCH", `webhooks/${sid}`, body);

/** The label and the action of a button that changes a webhook. */
export const update = ({ sid }: Webhook, label: string, body: object) => ({
  label,
  run: () => changeWebhook(sid, body, `Done: ${label}.`),
});

/** The button that gives a webhook the URL of the receiver; none when its user info is hidden. */
export function UrlButton({ webhook }: { webhook: Webhook }) {
  if (settings.receiver?.isUrlComplete !== true) return null;
  const mend = update(webhook, "Set webhook_url to publicUrl", { webhook_url: readPublicUrl() });
  return <WriteButton class="primary" {...mend} />;
}
