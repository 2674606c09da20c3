import { z } from "zod";
import { WebhookError } from "./errors";
import type { Pair } from "./form";
import { parseJsonParameter, type JsonParameter } from "./json-parameter";

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
const MAX_METADATA_CHARACTERS = 1024;

const metadataSchema = z.record(z.string(), z.string());

const detailsSchema = z.looseObject({
  message: z.string(),
  date: z.string().nullish(),
  fields: z.array(z.looseObject({ label: z.string(), value: z.string() })).nullish(),
});

const hiddenDetailsSchema = z.record(z.string(), z.unknown());

/** Context that the user was shown with a challenge. */
export type ChallengeDetails = z.infer<typeof detailsSchema>;

const JSON_PARAMETERS = {
  factor_metadata: { schema: metadataSchema, maxCharacters: MAX_METADATA_CHARACTERS },
  challenge_details: { schema: detailsSchema },
  challenge_hidden_details: { schema: hiddenDetailsSchema },
  challenge_metadata: { schema: metadataSchema, maxCharacters: MAX_METADATA_CHARACTERS },
} as const satisfies Record<string, JsonParameter>;

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

const unknownEventSchema = z.object({
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

const V2_ONLY = ["factor_type", "factor_friendly_name", ...Object.keys(JSON_PARAMETERS)];
const KNOWN = new Set([
  "uuid",
  "type",
  "account_sid",
  "service_sid",
  "entity_identity",
  "factor_sid",
  "challenge_sid",
  ...V2_ONLY,
]);

/**
 * Parses the pairs of a verified call into its event.
 *
 * A call is v2 when it has any parameter that only v2 has. A JSON parameter that does not parse
 * never costs the event: its field is absent and `event.issues` says why.
 *
 * @throws WebhookError `PAYLOAD_INVALID` when a required parameter is missing or malformed, or a
 *   known one is repeated.
 */
export function parsePayload(params: readonly Pair[]): PushEvent | UnknownPushEvent {
  const fields = collectFields(params);
  const issues: PushEvent["issues"] = [];
  const event: Record<string, unknown> = { ...fields, params, issues };

  if (!isPushEventType(fields.type)) return check(unknownEventSchema, event);

  event.version = V2_ONLY.some((name) => name in fields) ? "v2" : "v1";
  for (const [name, parameter] of Object.entries(JSON_PARAMETERS)) {
    const text = fields[name];
    // Factor events carry no challenge_* parameters: if one does, it stays raw.
    if (text === undefined || !belongsTo(name, fields.type)) continue;
    const { value, problem } = parseJsonParameter(text, parameter);
    if (problem === undefined) {
      event[name] = value;
    } else {
      delete event[name];
      issues.push({ param: name, message: problem });
    }
  }
  return check(pushEventSchema, event);
}

/** Whether a type is one of the five that are known. */
export function isPushEventType(type: string | undefined): type is PushEventType {
  return (PUSH_EVENT_TYPES as readonly (string | undefined)[]).includes(type);
}

/** Whether an event is the outcome of a challenge. */
export function isChallengeEvent(event: PushEvent | UnknownPushEvent): event is ChallengeEvent {
  return event.type === "challenge.approved" || event.type === "challenge.denied";
}

function belongsTo(name: string, type: PushEventType): boolean {
  return !name.startsWith("challenge_") || type.startsWith("challenge.");
}

function collectFields(params: readonly Pair[]): Partial<Record<string, string>> {
  const fields: Partial<Record<string, string>> = {};
  for (const [name, value] of params) {
    if (!KNOWN.has(name)) continue;
    // Also when the values are equal: the signature of a=1&a=1 is that of a=1.
    if (name in fields) throw invalid([`${name} is repeated`]);
    fields[name] = value;
  }
  return fields;
}

function check<Schema extends z.ZodType>(schema: Schema, event: unknown): z.infer<Schema> {
  const result = schema.safeParse(event);
  if (result.success) return result.data;
  throw invalid(
    result.error.issues.map(({ path, message }) => {
      const name = String(path[0]);
      const missing = (event as Record<string, unknown>)[name] === undefined;
      return missing ? `${name} is missing` : `${name} is malformed (${message})`;
    }),
  );
}

function invalid(problems: readonly string[]): WebhookError {
  return new WebhookError(
    "PAYLOAD_INVALID",
    `The call is signed, but not as specified: ${problems.join("; ")}.`,
  );
}
