import * as z from "zod";
import { sidPattern, type SidPrefix } from "../../kit/sid";

/** A SID with a prefix. */
export function sidSchema(prefix: SidPrefix) {
  return z.string().regex(sidPattern(prefix), `must be ${prefix} and 32 hexadecimal digits`);
}

const text = z.string().nullable().default(null);
const count = z.number().nullable().default(null);
const dates = { date_created: text, date_updated: text };
const owned = { account_sid: text, service_sid: text, status: text, ...dates };

/** A `Key` (section 2.1), with unknown fields. */
export const keySchema = z.looseObject({
  sid: sidSchema("SK"),
  friendly_name: text,
  ...dates,
});

/** A `CreatedKey`. */
export const createdKeySchema = keySchema.extend({ secret: z.string().min(1) });

/** A `Webhook` (section 2.3), with unknown fields. */
export const webhookSchema = z.looseObject({
  sid: sidSchema("YW"),
  ...owned,
  friendly_name: text,
  event_types: z.array(z.string()).nullable().default(null),
  version: text,
  webhook_url: text,
  webhook_method: text,
  url: text,
});

/** A `FetchedChallenge`, with unknown fields. */
export const challengeSchema = z.looseObject({
  sid: sidSchema("YC"),
  ...owned,
  identity: text,
  factor_sid: text,
  date_responded: text,
  expiration_date: text,
});

/** A `FetchedFactor`, with unknown fields. */
export const factorSchema = z.looseObject({ sid: sidSchema("YF"), ...owned, identity: text });

/** A list of Keys (section 2.2). */
export const keyListSchema = z
  .looseObject({
    keys: z.array(keySchema),
    page: count,
    page_size: count,
    next_page_uri: text,
    previous_page_uri: text,
  })
  .transform(({ keys: items, next_page_uri: next, previous_page_uri: previous, ...list }) => {
    return { items, page: list.page, page_size: list.page_size, next, previous };
  });

/** The paging of a list of the verification API (section 2.4). */
const metaSchema = z
  .looseObject({ page: count, page_size: count, next_page_url: text, previous_page_url: text })
  .transform(({ page, page_size, next_page_url: next, previous_page_url: previous }) => {
    return { page, page_size, next, previous };
  });

/** A list of Webhooks (section 2.4). */
export const webhookListSchema = z
  .looseObject({ webhooks: z.array(webhookSchema), meta: metaSchema })
  .transform(({ webhooks: items, meta }) => ({ items, ...meta }));

/** A list of factors. */
export const factorListSchema = z
  .looseObject({ factors: z.array(factorSchema), meta: metaSchema })
  .transform(({ factors: items, meta }) => ({ items, ...meta }));
