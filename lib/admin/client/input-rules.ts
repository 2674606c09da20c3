import * as z from "zod";
import { PUSH_EVENT_TYPES } from "../../index";
import { isHttpUrl } from "../../kit/url";
import { InputError } from "./input-error";
import { sidSchema } from "./resource-schemas";

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
