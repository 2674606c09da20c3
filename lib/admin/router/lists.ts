import { encodeForm } from "../../kit/text";
import * as z from "zod";
import type { List, PageQuery } from "../client/list";
import { pageQuerySchema, parseInput } from "../client/input-rules";

const { pageSize, page, pageToken } = pageQuerySchema.shape;

/** The parameters of a list, by their names in the query. */
export const PAGE_PARAMETERS = { page_size: pageSize, page, page_token: pageToken };

const pageQueryStringSchema = z.strictObject({
  page_size: numberText(pageSize.unwrap()),
  page: numberText(page.unwrap()),
  page_token: pageToken,
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
 * Fetches the page of a list that the query of a request selects; its links lead to the router.
 *
 * @throws InputError for an invalid query; ApiError.
 */
export async function fetchPage<Item>(
  list: List<Item>,
  key: "keys" | "webhooks",
  req: { path: string; query: object },
  show: (item: Item) => Item = (item) => item,
): Promise<object> {
  const given = parseInput("query", pageQueryStringSchema, { ...req.query });
  const query = { pageSize: given.page_size, page: given.page, pageToken: given.page_token };
  const { items, page: index, page_size, previous, next } = await list.page(query);
  const linkTo = (to: PageQuery) => {
    const parameters = { page_size: to.pageSize, page: to.page, page_token: to.pageToken };
    const pairs = Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    return `${linkFrom(req, key)}${pairs.length === 0 ? "" : `?${encodeForm(pairs)}`}`;
  };
  const meta = {
    page: index,
    page_size,
    first_page_url: linkTo({ pageSize: page_size ?? query.pageSize, page: 0 }),
    previous_page_url: previous === undefined ? null : linkTo(previous),
    url: linkTo(query),
    next_page_url: next === undefined ? null : linkTo(next),
    key,
  };
  return { [key]: items.map(show), meta };
}

/** Links to a path relative to a request: a proxy may serve the router under a prefix that it removes. */
export function linkFrom({ path }: { path: string }, target: string): string {
  return "../".repeat(path.split("/").length - 2) + target;
}
