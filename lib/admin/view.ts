import { z } from "zod";
import type { Page, PageQuery } from "./list";
import { createdKeySchema, keySchema, pageQuerySchema, webhookSchema } from "./resources";

/**
 * What the router shows of a resource: the specified fields and no others, so that nothing an
 * upstream adds, a link to itself among it, gets through.
 */
export const keyViewSchema = z.object(keySchema.shape);

/** A Key with its secret, shown once. */
export const createdKeyViewSchema = z.object(createdKeySchema.shape);

/** A Webhook; its `url` is the router's own. */
export const webhookViewSchema = z.object(webhookSchema.shape);

const metaSchema = z.object({
  page: z.number().nullable(),
  page_size: z.number().nullable(),
  first_page_url: z.string(),
  previous_page_url: z.string().nullable(),
  url: z.string(),
  next_page_url: z.string().nullable(),
  key: z.string(),
});

/** A page of Keys. */
export const keyPageViewSchema = z.object({ keys: z.array(keyViewSchema), meta: metaSchema });

/** A page of Webhooks. */
export const webhookPageViewSchema = z.object({
  webhooks: z.array(webhookViewSchema),
  meta: metaSchema,
});

/** What is answered in place of all of these when something is wrong. */
export const problemViewSchema = z.object({
  code: z.union([z.string(), z.int()]),
  message: z.string(),
  status: z.int(),
});

/** The query of a list, as its strings come. */
export const pageQueryTextSchema = z.strictObject({
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

/** Links of a page that stay within the router, wherever it is mounted. */
export function describePage(
  listUrl: string,
  key: "keys" | "webhooks",
  page: Page<unknown>,
  query: PageQuery,
): z.infer<typeof metaSchema> {
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
