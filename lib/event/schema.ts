import { z } from "zod";
import { sidPattern, type SidPrefix } from "../form/sid";

/** Creates the schema of a SID: a prefix and 32 hexadecimal digits (specification, section 2). */
export function sidSchema(prefix: SidPrefix) {
  return z.string().regex(sidPattern(prefix), `must be ${prefix} and 32 hexadecimal digits`);
}

/** The schema of a metadata parameter: string values only (specification, section 6.2). */
// Not a z.record, which also checks each key and takes twice as long.
export const metadataSchema = z.object({}).catchall(z.string());

/** The schema of challenge_details (specification, section 6.2). */
export const detailsSchema = z.looseObject({
  message: z.string(),
  date: z.string().nullish(),
  fields: z.array(z.looseObject({ label: z.string(), value: z.string() })).nullish(),
});

/** The schema of challenge_hidden_details (specification, section 6.2). */
export const hiddenDetailsSchema = z.looseObject({});

const received = {
  params: z.array(z.tuple([z.string(), z.string()])),
  issues: z.array(z.object({ param: z.string(), message: z.string() })),
};

const uuid = z.string().min(1).max(256);

const common = {
  uuid,
  account_sid: sidSchema("AC"),
  service_sid: sidSchema("VA"),
  entity_identity: z.string().min(1),
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
  factor_metadata: metadataSchema.optional(),
};
const v2Challenge = {
  ...v2Factor,
  challenge_sid: sidSchema("YC"),
  challenge_details: detailsSchema.optional(),
  challenge_hidden_details: hiddenDetailsSchema.optional(),
  challenge_metadata: metadataSchema.optional(),
};

/** The schema of a `PushEvent` (specification, sections 6.2 and 6.3). */
export const pushEventSchema = z.discriminatedUnion("version", [
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("factor.created"), ...v2Factor }),
    z.object({ type: z.literal("factor.verified"), ...v2Factor }),
    z.object({ type: z.literal("factor.deleted"), ...v2Factor }),
    z.object({ type: z.literal("challenge.approved"), ...v2Challenge }),
    z.object({ type: z.literal("challenge.denied"), ...v2Challenge }),
  ]),
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("factor.created"), ...v1Factor }),
    z.object({ type: z.literal("factor.verified"), ...v1Factor }),
    z.object({ type: z.literal("factor.deleted"), ...v1Factor }),
    z.object({ type: z.literal("challenge.approved"), ...v1Challenge }),
    z.object({ type: z.literal("challenge.denied"), ...v1Challenge }),
  ]),
]);

/** The schema of an `UnknownPushEvent`. */
export const unknownEventSchema = z.object({
  // The characters of the known types: createFindAmbiguity relies on them.
  type: z.string().regex(/^[A-Za-z][\w.-]{0,99}$/),
  uuid,
  account_sid: sidSchema("AC"),
  service_sid: sidSchema("VA").optional(),
  ...received,
});
