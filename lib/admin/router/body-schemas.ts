import * as z from "../../validation/zod";
import {
  createdKeySchema,
  keyInputSchema,
  keySchema,
  webhookChangeSchema,
  webhookInputSchema,
  webhookSchema,
} from "../client/schemas";

// Responses have the specified fields only: others that the service adds, such as links, are removed.
const key = z.object(keySchema.shape);
const webhook = z.object(webhookSchema.shape);

const meta = z.object({
  page: z.number().nullable(),
  page_size: z.number().nullable(),
  first_page_url: z.string(),
  previous_page_url: z.string().nullable(),
  url: z.string(),
  next_page_url: z.string().nullable(),
  key: z.string(),
});

/** The schemas of the bodies of requests and responses, by their names in the OpenAPI document. */
export const BODY_SCHEMAS = {
  Key: key,
  CreatedKey: z.object(createdKeySchema.shape),
  KeyInput: keyInputSchema,
  KeyPage: z.object({ keys: z.array(key), meta }),
  /** Its `url` is that of the router. */
  Webhook: webhook,
  WebhookInput: webhookInputSchema,
  WebhookChange: webhookChangeSchema,
  WebhookPage: z.object({ webhooks: z.array(webhook), meta }),
  Error: z.object({ code: z.union([z.string(), z.int()]), message: z.string(), status: z.int() }),
};
