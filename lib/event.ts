import { z } from "zod";

/** The five types of event (specification, section 6.1). */
export const PUSH_EVENT_TYPES = [
  "factor.created",
  "factor.verified",
  "factor.deleted",
  "challenge.approved",
  "challenge.denied",
] as const;

/** The type of an event. */
export type PushEventType = (typeof PUSH_EVENT_TYPES)[number];

/** A SID with a prefix: the prefix and 32 hexadecimal digits (specification, section 2). */
export function sidSchema(prefix: "AC" | "VA" | "YF" | "YC") {
  return z.string().regex(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`));
}

const MAX_UUID_CHARACTERS = 256;

/** What a metadata parameter holds: only string values (specification, section 6.2). */
// Not a z.record: that looks at each key, too, and takes twice as long.
export const metadataSchema = z.object({}).catchall(z.string());

/** What challenge_details holds (specification, section 6.2). */
export const detailsSchema = z.looseObject({
  message: z.string(),
  date: z.string().nullish(),
  fields: z.array(z.looseObject({ label: z.string(), value: z.string() })).nullish(),
});

/** What challenge_hidden_details holds (specification, section 6.2). */
export const hiddenDetailsSchema = z.looseObject({});

/** Context that the user was shown with a challenge. */
export type ChallengeDetails = z.infer<typeof detailsSchema>;

const received = {
  /** Every pair received, in the order of arrival, as decoded: also what is not known here. */
  params: z.array(z.tuple([z.string(), z.string()])),
  /** What was wrong with a field that is absent for it; its raw text is in `params`. */
  issues: z.array(z.object({ param: z.string(), message: z.string() })),
};

const uuid = z.string().min(1).max(MAX_UUID_CHARACTERS);

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

/**
 * The schema of an event, as handlers get it (specification, sections 6.2 and 6.3): for events
 * that were stored and come back as JSON.
 */
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

/** An event: a union discriminated by `type`, and by `version` ("v1" or "v2"). */
export type PushEvent = z.infer<typeof pushEventSchema>;

/** The event of one type, in both versions. */
export type PushEventOf<Type extends PushEventType> = Extract<PushEvent, { type: Type }>;
/** A factor was created; it cannot receive challenges yet. */
export type FactorCreatedEvent = PushEventOf<"factor.created">;
/** A factor was verified; it can receive challenges from now on. */
export type FactorVerifiedEvent = PushEventOf<"factor.verified">;
/** A factor was deleted. */
export type FactorDeletedEvent = PushEventOf<"factor.deleted">;
/** The user approved a challenge. */
export type ChallengeApprovedEvent = PushEventOf<"challenge.approved">;
/** The user denied a challenge. */
export type ChallengeDeniedEvent = PushEventOf<"challenge.denied">;
/** The outcome of a challenge: approved or denied. */
export type ChallengeEvent = ChallengeApprovedEvent | ChallengeDeniedEvent;

/** The schema of {@link UnknownPushEvent}. */
export const unknownEventSchema = z.object({
  type: z.string().min(1),
  uuid,
  account_sid: sidSchema("AC").optional(),
  service_sid: sidSchema("VA").optional(),
  ...received,
});

/**
 * An event of a type that the service added after this version was made. Only `uuid` and `type`
 * are certain; everything that came with it is in `params`.
 */
export type UnknownPushEvent = z.infer<typeof unknownEventSchema>;

/** Whether a type is one of the five that are known. */
export function isPushEventType(type: string | undefined): type is PushEventType {
  return (PUSH_EVENT_TYPES as readonly (string | undefined)[]).includes(type);
}

/** Whether an event is the outcome of a challenge. */
export function isChallengeEvent(event: PushEvent | UnknownPushEvent): event is ChallengeEvent {
  return event.type === "challenge.approved" || event.type === "challenge.denied";
}
