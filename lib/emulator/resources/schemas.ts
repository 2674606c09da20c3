import { z } from "zod";
import { PUSH_EVENT_TYPES } from "../../event/event";
import { detailsSchema, hiddenDetailsSchema, metadataSchema } from "../../event/schema";
import { textSchema } from "./validate-fields";

const MAX_METADATA_CHARACTERS = 1024;

const boundedMetadataSchema = metadataSchema.refine(
  (metadata) => JSON.stringify(metadata).length <= MAX_METADATA_CHARACTERS,
  `must be up to ${MAX_METADATA_CHARACTERS} characters as JSON`,
);

const MAX_DETAILS_CHARACTERS = 16_384;
const TOO_LARGE = `must be up to ${MAX_DETAILS_CHARACTERS} characters as JSON`;

/** Returns whether an object fits as JSON; one that is nested too deeply cannot be written. */
function isSendable(details: object): boolean {
  try {
    return JSON.stringify(details).length <= MAX_DETAILS_CHARACTERS;
  } catch {
    return false;
  }
}

/** The schema of a `NewFactor`. */
export const newFactorSchema = z.strictObject({
  entity_identity: textSchema.min(1).default("user-7f3a-22"),
  factor_type: textSchema.min(1).default("push"),
  friendly_name: textSchema.default("Zoë's phone"),
  metadata: boundedMetadataSchema.optional(),
});

/** The schema of a `NewChallenge`. */
export const newChallengeSchema = z.strictObject({
  factor_sid: z.string(),
  details: detailsSchema
    .refine(isSendable, TOO_LARGE)
    .default({ message: "Do you want to sign in?" }),
  hidden_details: hiddenDetailsSchema.refine(isSendable, TOO_LARGE).optional(),
});

/** The schema of a `ChallengeDecision`. */
export const decisionSchema = z.strictObject({ metadata: boundedMetadataSchema.optional() });

const scope = {
  times: z.int().min(1).max(1_000_000).default(1),
  event_type: z.enum(PUSH_EVENT_TYPES).optional(),
};

const delayMs = z.int().min(0).max(600_000).default(1_000);

/** The schema of a `Fault`. */
export const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("duplicate"),
    ...scope,
    copies: z.int().min(1).max(100).default(1),
  }),
  z.strictObject({ kind: z.literal("reorder"), ...scope, delay_ms: delayMs }),
  z.strictObject({ kind: z.literal("delay"), ...scope, delay_ms: delayMs }),
  z.strictObject({ kind: z.literal("drop-connection"), ...scope }),
  z.strictObject({ kind: z.literal("wrong-signature"), ...scope }),
  z.strictObject({ kind: z.literal("old-token"), ...scope }),
  z.strictObject({
    kind: z.literal("unknown-event-type"),
    ...scope,
    type: textSchema.min(1).default("challenge.expired"),
  }),
  z.strictObject({
    kind: z.literal("extra-parameters"),
    ...scope,
    params: z.record(textSchema, textSchema).default({ risk_score: "12" }),
  }),
]);
