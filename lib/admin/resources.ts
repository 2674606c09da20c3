import { z } from "zod";
import { PUSH_EVENT_TYPES } from "../event";
import { isHttpUrl } from "../url";

/** A SID with a prefix and 32 hexadecimal digits (specification, section 2). */
export function resourceSidSchema(prefix: "AC" | "SK" | "VA" | "YW") {
  return z.string().regex(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`));
}

const text = z.string().nullable().default(null);

/**
 * A Key as the service gives it (section 2.1); fields that are not known here are kept.
 *
 * Dates are as on the wire, RFC 2822: `new Date(key.date_created)` reads them.
 */
export const keySchema = z.looseObject({
  sid: resourceSidSchema("SK"),
  friendly_name: text,
  date_created: text,
  date_updated: text,
});

/** A Key that was just created: the only time that its secret is shown. */
export const createdKeySchema = keySchema.extend({ secret: z.string().min(1) });

/**
 * A Webhook as the service gives it (section 2.3); fields that are not known here are kept.
 *
 * Dates are as on the wire, ISO 8601: `new Date(webhook.date_created)` reads them.
 */
export const webhookSchema = z.looseObject({
  sid: resourceSidSchema("YW"),
  service_sid: text,
  account_sid: text,
  friendly_name: text,
  event_types: z.array(z.string()).nullable().default(null),
  status: text,
  version: text,
  webhook_url: text,
  webhook_method: text,
  date_created: text,
  date_updated: text,
  url: text,
});

/** A Key. */
export type Key = z.infer<typeof keySchema>;
/** A Key with its secret. */
export type CreatedKey = z.infer<typeof createdKeySchema>;
/** A Webhook. */
export type Webhook = z.infer<typeof webhookSchema>;

const httpUrl = z.string().max(2048).refine(isHttpUrl, "must be an absolute http or https URL");

const eventTypes = z.array(z.enum(["*", ...PUSH_EVENT_TYPES])).min(1);
const webhookFields = {
  friendly_name: z.string().min(1),
  event_types: eventTypes,
  webhook_url: httpUrl,
  status: z.enum(["enabled", "disabled"]).optional(),
  version: z.enum(["v1", "v2"]).optional(),
};

/** What a Key is created with, or changed to (section 4.1). */
export const keyInputSchema = z.strictObject({ friendly_name: z.string().max(64).optional() });

/** What a Webhook is created with (section 4.2). */
export const webhookInputSchema = z.strictObject(webhookFields);

/** What a Webhook is changed to: any of what it is created with. */
export const webhookChangeSchema = webhookInputSchema.partial();

/** Which page of a list (section 8). */
export const pageQuerySchema = z.strictObject({
  page_size: z.int().min(1).max(1000).optional(),
  page: z.int().min(0).optional(),
  page_token: z.string().min(1).optional(),
});

/** What a Key is created with, or changed to. */
export type KeyInput = z.input<typeof keyInputSchema>;
/** What a Webhook is created with. */
export type WebhookInput = z.input<typeof webhookInputSchema>;
/** What a Webhook is changed to. */
export type WebhookChange = z.input<typeof webhookChangeSchema>;

const link = z.string().nullable().default(null);

/** The envelope of a list of Keys (section 2.2). */
export const keyListSchema = z.looseObject({
  keys: z.array(keySchema),
  page: z.number().nullable().default(null),
  page_size: z.number().nullable().default(null),
  next_page_uri: link,
  previous_page_uri: link,
});

/** The envelope of a list of Webhooks (section 2.4). */
export const webhookListSchema = z.looseObject({
  webhooks: z.array(webhookSchema),
  meta: z.looseObject({
    page: z.number().nullable().default(null),
    page_size: z.number().nullable().default(null),
    next_page_url: link,
    previous_page_url: link,
  }),
});
