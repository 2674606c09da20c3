import { parseUrl } from "../../kit/url";
import { pageQuerySchema, parseInput } from "./input-rules";
import { createApiError } from "./api-error";
import type { RequestOptions } from "./options";
import type { ResponseSchema, Send } from "./transport";

/** Query that selects a page of a list (specification, section 8). */
export interface PageQuery extends RequestOptions {
  /** Number of items, 1 to 1000. @default 50, by the service */
  readonly pageSize?: number | undefined;
  /** Index from 0. The service selects the page by `pageToken` and returns this index. */
  readonly page?: number | undefined;
  /** Token of `next` or `previous` of another page. */
  readonly pageToken?: string | undefined;
}

/** One page of a list (sections 2.2 and 2.4). */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Index from 0; null without one. */
  readonly page: number | null;
  /** The most items of a page. */
  readonly page_size: number | null;
  /** Undefined on the last page. */
  readonly next: PageQuery | undefined;
  /** Undefined on the first page. */
  readonly previous: PageQuery | undefined;
}

/** A page of either API. */
interface LinkedPage<Item> extends Pick<Page<Item>, "items" | "page" | "page_size"> {
  next: string | null;
  previous: string | null;
}

/** A list of resources, page by page or item by item. */
export interface List<Item> {
  /** Iterates over all items; requests each page when it is needed. */
  list(query?: PageQuery): AsyncGenerator<Item, void, undefined>;
  /** Iterates over all pages. */
  pages(query?: PageQuery): AsyncGenerator<Page<Item>, void, undefined>;
  /** Fetches one page. */
  page(query?: PageQuery): Promise<Page<Item>>;
}

/**
 * Creates the methods of a list at a URL. Follows the links between pages, never to another origin.
 *
 * @param shownPath see `FailedRequest`.
 * @throws ApiError (from its methods) `FOREIGN_PAGE` for a link to another origin, `BAD_RESPONSE`
 *   for links in a circle; InputError for an invalid query.
 */
export function createList<Item>(
  send: Send,
  listUrl: string,
  schema: ResponseSchema<LinkedPage<Item>>,
  shownPath?: string,
): List<Item> {
  const location = { method: "GET", url: listUrl, ...(shownPath !== undefined && { shownPath }) };

  function readLink(link: string | null): PageQuery | undefined {
    if (link === null) return undefined;
    const url = parseUrl(link, listUrl);
    if (url?.origin !== new URL(listUrl).origin) {
      throw createApiError(location, "FOREIGN_PAGE");
    }
    const read = (name: string) => url.searchParams.get(name) ?? undefined;
    return {
      pageSize: toNumber(read("PageSize")),
      page: toNumber(read("Page")),
      pageToken: read("PageToken"),
    };
  }

  async function page(query: PageQuery = {}): Promise<Page<Item>> {
    const checked = parseInput("page query", pageQuerySchema, query);
    const { signal, pageSize: PageSize, page: Page, pageToken: PageToken } = checked;
    const url = new URL(listUrl);
    for (const [name, value] of Object.entries({ PageSize, Page, PageToken })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const found = await send({ ...location, method: "GET", url: url.href, signal }, schema);
    return { ...found, next: readLink(found.next), previous: readLink(found.previous) };
  }

  async function* pages(query: PageQuery = {}): AsyncGenerator<Page<Item>, void, undefined> {
    const seen = new Set<string>();
    for (let next: PageQuery | undefined = query; next !== undefined;) {
      const key = JSON.stringify([next.page, next.pageToken]);
      // Links in a circle would never end.
      if (seen.has(key)) throw createApiError(location, "BAD_RESPONSE");
      seen.add(key);
      const current: Page<Item> = await page({ ...next, signal: query.signal });
      yield current;
      next = current.next;
    }
  }

  async function* list(query: PageQuery = {}): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of pages(query)) yield* items;
  }

  return { list, pages, page };
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
