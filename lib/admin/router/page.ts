import * as z from "../../validation/zod";
import type { List, PageQuery } from "../client/list";
import { pageQuerySchema, parseInput } from "../client/schemas";
import type { PageMeta } from "./body-schemas";

/** The schema of the query of a list, whose values are strings. */
const pageQueryStringSchema = z.strictObject({
  page_size: numberText(pageQuerySchema.shape.page_size.unwrap()),
  page: numberText(pageQuerySchema.shape.page.unwrap()),
  page_token: pageQuerySchema.shape.page_token,
});

function numberText(number: z.ZodInt) {
  return z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(number)
    .optional();
}

/**
 * Fetches the page of a list that the query of a request selects, each item as `show` returns it.
 * The links of its `meta` are within the router at its mount, `baseUrl`.
 *
 * @throws InputError for an invalid query; ApiError.
 */
export async function fetchPage<Item>(
  list: List<Item>,
  key: "keys" | "webhooks",
  req: { baseUrl: string; query: object },
  show: (item: Item) => Item = (item) => item,
): Promise<object> {
  const given = parseInput("query", pageQueryStringSchema, { ...req.query });
  const query = { pageSize: given.page_size, page: given.page, pageToken: given.page_token };
  const { items, page, page_size, previous, next } = await list.page(query);
  const listUrl = `${req.baseUrl}/${key}`;
  const meta: PageMeta = {
    page,
    page_size,
    first_page_url: linkTo(listUrl, { pageSize: page_size ?? query.pageSize, page: 0 }),
    previous_page_url: previous === undefined ? null : linkTo(listUrl, previous),
    url: linkTo(listUrl, query),
    next_page_url: next === undefined ? null : linkTo(listUrl, next),
    key,
  };
  return { [key]: items.map(show), meta };
}

function linkTo(listUrl: string, { pageSize, page, pageToken }: PageQuery): string {
  const query = new URLSearchParams();
  if (pageSize !== undefined) query.set("page_size", String(pageSize));
  if (page !== undefined) query.set("page", String(page));
  if (pageToken !== undefined) query.set("page_token", pageToken);
  return query.size === 0 ? listUrl : `${listUrl}?${query.toString()}`;
}
