import { z } from "zod";
import { createdKeySchema, keySchema, pageQuerySchema, webhookSchema } from "../client/schemas";

/**
 * The schema of a Key in responses: the specified fields only, so that fields that the service adds,
 * such as links to itself, are removed.
 */
export const keyResponseSchema = z.object(keySchema.shape);

/** The schema of a created Key, with its secret. */
export const createdKeyResponseSchema = z.object(createdKeySchema.shape);

/** The schema of a Webhook in responses; its `url` is that of the router. */
export const webhookResponseSchema = z.object(webhookSchema.shape);

/** The schema of the `meta` of a page: its links and its size. */
export const pageMetaSchema = z.object({
  page: z.number().nullable(),
  page_size: z.number().nullable(),
  first_page_url: z.string(),
  previous_page_url: z.string().nullable(),
  url: z.string(),
  next_page_url: z.string().nullable(),
  key: z.string(),
});

/** The schema of a page of Keys. */
export const keyPageResponseSchema = z.object({
  keys: z.array(keyResponseSchema),
  meta: pageMetaSchema,
});

/** The schema of a page of Webhooks. */
export const webhookPageResponseSchema = z.object({
  webhooks: z.array(webhookResponseSchema),
  meta: pageMetaSchema,
});

/** The schema of an error. */
export const errorSchema = z.object({
  code: z.union([z.string(), z.int()]),
  message: z.string(),
  status: z.int(),
});

/** The schema of the query of a list, whose values are strings. */
export const pageQueryStringSchema = z.strictObject({
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
