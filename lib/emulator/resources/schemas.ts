import * as z from "zod";
import { PUSH_EVENT_TYPES } from "../../index";
import { createDigits, createSid, isSid } from "../../kit/sid";
import { isHttpUrl } from "../../kit/url";
import { EmulatorError } from "../emulator-error";

const MAX_NAME_CHARACTERS = 64;
const MAX_DETAILS_CHARACTERS = 16_384;

/** Text that can be sent: without lone surrogates, which have no UTF-8 form. */
export const textSchema = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "must be text");

/** Returns whether the public service accepts a text as the identity of an entity. */
export function isIdentity(text: string): boolean {
  return /^[A-Za-z0-9-]{8,64}$/.test(text);
}

/** Limits the length of an object as JSON; one that is nested too deeply cannot be written. */
function limitJson<Schema extends z.core.$ZodType>(schema: Schema, maxCharacters: number) {
  const fits = (value: unknown) => {
    try {
      return JSON.stringify(value).length <= maxCharacters;
    } catch {
      return false;
    }
  };
  return z.lazy(() => schema).refine(fits, `must be up to ${maxCharacters} characters as JSON`);
}

/** Custom data of a device: texts (specification, section 6.2). */
export const limitedMetadataSchema = limitJson(z.record(z.string(), z.string()), 1024);

/** What a challenge shows to its user (specification, section 6.2). */
const detailsSchema = z.looseObject({
  message: z.string(),
  date: z.string().nullish(),
  fields: z.array(z.looseObject({ label: z.string(), value: z.string() })).nullish(),
});

/** Returns whether a value is a name of a key: a text of up to 64 characters. */
export function isKeyName(name: unknown): boolean {
  return typeof name === "string" && Array.from(name).length <= MAX_NAME_CHARACTERS;
}

/** The schema of a `NewKey`; adds the defaults. */
export const newKeySchema = z.strictObject({
  sid: z
    .string()
    .refine((sid) => isSid("SK", sid), "must be SK and 32 hexadecimal digits")
    .default(() => createSid("SK")),
  secret: z.string().min(1).default(createDigits),
  friendly_name: z
    .string()
    .refine(isKeyName, `must be up to ${MAX_NAME_CHARACTERS} characters`)
    .default(""),
  type: z.enum(["standard", "main"]).default("standard"),
});

/** The schema of a `NewWebhook` (specification, sections 2.3 and 4.2). */
export const newWebhookSchema = z.strictObject({
  friendly_name: z.string().min(1).default("emulator"),
  event_types: z
    .array(z.enum(["*", ...PUSH_EVENT_TYPES]))
    .min(1)
    .default(["*"]),
  webhook_url: z.string().refine(isHttpUrl, "must be an absolute http or https URL"),
  status: z.enum(["enabled", "disabled"]).default("enabled"),
  version: z.enum(["v1", "v2"]).default("v2"),
  webhook_method: z.enum(["GET", "POST"]).optional(),
});

export const newFactorSchema = z.strictObject({
  entity_identity: textSchema.min(1).default("user-7f3a-22"),
  factor_type: textSchema.min(1).default("push"),
  friendly_name: textSchema.default("Zoë's phone"),
  metadata: limitedMetadataSchema.optional(),
});

export const newChallengeSchema = z.strictObject({
  factor_sid: z.string(),
  details: limitJson(detailsSchema, MAX_DETAILS_CHARACTERS).default({
    message: "Do you want to sign in?",
  }),
  expiration_date: z.iso.datetime({ offset: true }).optional(),
  hidden_details: limitJson(z.record(z.string(), z.unknown()), MAX_DETAILS_CHARACTERS).optional(),
});

export const decisionSchema = z.strictObject({ metadata: limitedMetadataSchema.optional() });

function faultOf<Kind extends string, Shape extends z.core.$ZodLooseShape>(
  kinds: readonly Kind[],
  shape: Shape,
) {
  const times = z.int().min(1).max(1_000_000).default(1);
  const event_type = z.enum(PUSH_EVENT_TYPES).optional();
  return z.strictObject({ kind: z.enum(kinds), times, event_type, ...shape });
}

export const faultSchema = z.discriminatedUnion("kind", [
  faultOf(["duplicate"], { copies: z.int().min(1).max(100).default(1) }),
  faultOf(["reorder", "delay"], { delay_ms: z.int().min(0).max(600_000).default(1_000) }),
  faultOf(["drop-connection", "wrong-signature", "old-token"], {}),
  faultOf(["unknown-event-type"], { type: textSchema.min(1).default("challenge.expired") }),
  faultOf(["extra-parameters"], {
    params: z.record(textSchema, textSchema).default({ risk_score: "12" }),
  }),
]);

/** Validates fields, and returns a copy. @throws EmulatorError 60200 that names the first invalid one. */
export function validateFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: unknown,
): z.infer<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return structuredClone(result.data);
  const issue = describeFirstIssue(result.error);
  throw new EmulatorError("PARAMETER_INVALID", `Invalid parameter: ${issue}`);
}

/** Describes the first invalid field: its name, and the reason in parentheses. */
export function describeFirstIssue({ issues: [issue] }: z.ZodError): string {
  const name = issue?.code === "unrecognized_keys" ? issue.keys[0] : issue?.path.join(".");
  return `${name === undefined || name === "" ? "(all)" : name} (${issue?.message ?? ""})`;
}
