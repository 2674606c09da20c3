import type { Finding, Webhook } from "../../client/webhook";
import { change, send, settings } from "./api";
import { createLoader } from "./store";

/** The webhooks of the service, compared with the receiver. */
export interface ComparedWebhooks {
  webhooks: readonly Webhook[];
  /** Undefined when they could not be compared. */
  findings: readonly Finding[] | undefined;
  findingsError: unknown;
}

const MAX_PAGES = 20;

/** All items of a list of the service. */
export async function listAll<Item>(name: string): Promise<Item[]> {
  const items: Item[] = [];
  let query: string | undefined = "?page_size=100";
  for (let page = 0; page < MAX_PAGES && query !== undefined; page++) {
    type Page = { meta: { next_page_url: string | null } } & Record<string, Item[]>;
    const list: Page = await send<Page>("GET", `${name}${query}`);
    items.push(...(list[name] ?? []));
    // Its path may not be that of the page, behind a proxy that rewrites it.
    const next: string | undefined = list.meta.next_page_url?.split("?")[1];
    query = next && `?${next}`;
  }
  return items;
}

async function compare(): Promise<Pick<ComparedWebhooks, "findings" | "findingsError">> {
  if (settings.receiver === undefined) return { findings: [], findingsError: undefined };
  try {
    const { findings } = await send<{ findings: Finding[] }>("GET", "console/findings");
    return { findings, findingsError: undefined };
  } catch (findingsError) {
    return { findings: undefined, findingsError };
  }
}

/** The webhooks and their findings, for the pages and the navigation. */
export const webhooks = createLoader<ComparedWebhooks>(async () => {
  const [list, compared] = await Promise.all([listAll<Webhook>("webhooks"), compare()]);
  return { webhooks: list, ...compared };
});

/** Changes a webhook; returns the announcement. */
export const changeWebhook = (sid: string, body: object, said: string) =>
  change(webhooks, said, "PATCH", `webhooks/${sid}`, body);
