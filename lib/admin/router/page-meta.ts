import type { z } from "zod";
import type { Page, PageQuery } from "../client/list";
import type { pageMetaSchema } from "./response-schemas";

/** Creates the `meta` of a page, with links within the router at its mount, `baseUrl`. */
export function createPageMeta(
  baseUrl: string,
  key: "keys" | "webhooks",
  page: Page<unknown>,
  query: PageQuery,
): z.infer<typeof pageMetaSchema> {
  const listUrl = `${baseUrl}/${key}`;
  const pageSize = page.page_size ?? query.pageSize;
  return {
    page: page.page,
    page_size: page.page_size,
    first_page_url: linkTo(listUrl, { pageSize, page: 0 }),
    previous_page_url: page.previous === undefined ? null : linkTo(listUrl, page.previous),
    url: linkTo(listUrl, query),
    next_page_url: page.next === undefined ? null : linkTo(listUrl, page.next),
    key,
  };
}

function linkTo(listUrl: string, { pageSize, page, pageToken }: PageQuery): string {
  const query = new URLSearchParams();
  if (pageSize !== undefined) query.set("page_size", String(pageSize));
  if (page !== undefined) query.set("page", String(page));
  if (pageToken !== undefined) query.set("page_token", pageToken);
  return query.size === 0 ? listUrl : `${listUrl}?${query.toString()}`;
}
