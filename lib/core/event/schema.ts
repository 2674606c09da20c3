import * as z from "zod/mini";
import { $ZodObjectJIT, type $strip, type $ZodLooseShape, type $ZodObject } from "zod/v4/core";
import type { ChallengeDetails } from "./event";
import { isMembers } from "../../kit/validate-options";
import { sidPattern, type SidPrefix } from "../../kit/sid";

/** Creates the schema of an object, compiled: zod/mini compiles nothing. */
const object = <Shape extends $ZodLooseShape>(shape: Shape) =>
  new $ZodObjectJIT({ type: "object", shape }) as $ZodObject<Shape, $strip>;

// The checks have messages of their own, because zod/mini has no texts.
const text = z.string().check(z.minLength(1, "must not be empty"));

/** Creates the schema of a SID: a prefix and 32 hexadecimal digits (specification, section 2). */
function sidSchema(prefix: SidPrefix) {
  const message = `must be ${prefix} and 32 hexadecimal digits`;
  return z.string(message).check(z.regex(sidPattern(prefix), message));
}

/** The schema of a metadata parameter: string values only (specification, section 6.2). */
const metadataSchema = z.custom<Readonly<Record<string, string>>>(
  (value) => isMembers(value) && Object.values(value).every((one) => typeof one === "string"),
);

/** The schema of challenge_details (specification, section 6.2). */
export const detailsSchema = z.custom<ChallengeDetails>(
  (value) => findDetailsFault(value) === undefined,
);

/** Returns the path of the first member of challenge_details that is not as specified; "" for all. */
export function findDetailsFault(value: unknown): string | undefined {
  if (!isMembers(value)) return "";
  const { message, date, fields } = value;
  if (typeof message !== "string") return "message";
  if (typeof (date ?? "") !== "string") return "date";
  if (!Array.isArray(fields ?? [])) return "fields";
  const faults = ((fields ?? []) as unknown[]).map(findFieldFault);
  const index = faults.findIndex((fault) => fault !== undefined);
  return index === -1 ? undefined : `fields[${index}]${faults[index]}`;
}

function findFieldFault(field: unknown): string | undefined {
  if (!isMembers(field)) return "";
  const { label, value } = field;
  if (typeof label !== "string") return ".label";
  return typeof value === "string" ? undefined : ".value";
}

/** The schema of challenge_hidden_details (specification, section 6.2). */
const hiddenDetailsSchema = z.custom<Readonly<Record<string, unknown>>>(isMembers);

const received = {
  params: z.array(z.tuple([z.string(), z.string()])),
  issues: z.array(z.object({ param: z.string(), message: z.string() })),
};

const uuid = text.check(z.maxLength(256, "must have at most 256 characters"));

const common = {
  uuid,
  account_sid: sidSchema("AC"),
  service_sid: sidSchema("VA"),
  entity_identity: text,
  factor_sid: sidSchema("YF"),
  ...received,
};

const v1Factor = { version: z.literal("v1"), ...common };
const v1Challenge = { ...v1Factor, challenge_sid: sidSchema("YC") };

const v2Factor = {
  version: z.literal("v2"),
  ...common,
  factor_type: z.string(),
  factor_friendly_name: z.string(),
  factor_metadata: z.optional(metadataSchema),
};
const v2Challenge = {
  ...v2Factor,
  challenge_sid: sidSchema("YC"),
  challenge_details: z.optional(detailsSchema),
  challenge_hidden_details: z.optional(hiddenDetailsSchema),
  challenge_metadata: z.optional(metadataSchema),
};

/** The schema of a `PushEvent` (specification, sections 6.2 and 6.3). */
export const pushEventSchema = z.discriminatedUnion("version", [
  z.discriminatedUnion("type", [
    object({ type: z.literal("factor.created"), ...v2Factor }),
    object({ type: z.literal("factor.verified"), ...v2Factor }),
    object({ type: z.literal("factor.deleted"), ...v2Factor }),
    object({ type: z.literal("challenge.approved"), ...v2Challenge }),
    object({ type: z.literal("challenge.denied"), ...v2Challenge }),
  ]),
  z.discriminatedUnion("type", [
    object({ type: z.literal("factor.created"), ...v1Factor }),
    object({ type: z.literal("factor.verified"), ...v1Factor }),
    object({ type: z.literal("factor.deleted"), ...v1Factor }),
    object({ type: z.literal("challenge.approved"), ...v1Challenge }),
    object({ type: z.literal("challenge.denied"), ...v1Challenge }),
  ]),
]);

/** The schema of an `UnknownPushEvent`. */
export const unknownEventSchema = z.object({
  // The characters of the known types: AmbiguityCheck relies on them.
  type: z.string().check(z.regex(/^[A-Za-z][\w.-]{0,99}$/, "must be a name")),
  uuid,
  account_sid: sidSchema("AC"),
  service_sid: z.optional(sidSchema("VA")),
  ...received,
});
