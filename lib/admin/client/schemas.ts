import * as z from "zod";
import { PUSH_EVENT_TYPES } from "../../index";
import { sidPattern, type SidPrefix } from "../../kit/sid";
import { isHttpUrl } from "../../kit/url";
import { InputError } from "./input-error";

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

/** A URL drops the segments "." and "..", and has no form for a lone surrogate. */
const entityIdentitySchema = z
  .string()
  .min(1)
  .refine(
    (name) => name.isWellFormed() && name !== "." && name !== "..",
    "must be well-formed, and not . or ..",
  );

/** A `ChallengeKey`. */
export const challengeKeySchema = z.strictObject({
  entityIdentity: entityIdentitySchema,
  challengeSid: sidSchema("YC"),
});

/** A `FactorKey`. */
export const factorKeySchema = z.strictObject({
  entityIdentity: entityIdentitySchema,
  factorSid: sidSchema("YF"),
});

/** The user of factors. */
export const factorUserSchema = factorKeySchema.pick({ entityIdentity: true });

/** The argument of `Factors.compare`. */
export const comparedFactorsSchema = factorUserSchema.extend({
  known: z.array(
    z.strictObject({
      factorSid: sidSchema("YF"),
      status: z.enum(["verified", "unverified"]),
    }),
  ),
});

/** A `KeyInput` (section 4.1). */
export const keyInputSchema = z.strictObject({ friendly_name: z.string().max(64).optional() });

/** A `WebhookInput` (section 4.2). */
export const webhookInputSchema = z.strictObject({
  friendly_name: z.string().min(1),
  event_types: z.array(z.enum(["*", ...PUSH_EVENT_TYPES])).min(1),
  webhook_url: z
    .string()
    .max(2048)
    .refine(isHttpUrl, "must be an absolute http or https URL")
    .refine(
      (url) => !url.includes("//***@"),
      "has *** in place of its user info; pass the whole URL",
    ),
  status: z.enum(["enabled", "disabled"]).optional(),
  version: z.enum(["v1", "v2"]).optional(),
});

/** A `WebhookChange` (section 4.2). */
export const webhookChangeSchema = webhookInputSchema.partial();

/** A `PageQuery` (section 8). */
export const pageQuerySchema = z.strictObject({
  pageSize: z.int().min(1).max(1000).optional(),
  page: z.int().min(0).optional(),
  pageToken: z.string().min(1).optional(),
  signal: z.custom<AbortSignal>().optional(),
});

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

/** Parses the argument `what`. @throws InputError */
export function parseInput<Schema extends z.core.$ZodType>(
  what: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  throw new InputError(
    what,
    result.error.issues.map(({ path, message }) => ({ path: path.join(".") || what, message })),
  );
}
