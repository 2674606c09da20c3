import type { z } from "zod";
import { V1_PARAMETERS, V2_PARAMETERS } from "./call-parameters";
import { WebhookError } from "./errors";
import {
  isPushEventType,
  type EventIssue,
  type PushEvent,
  type PushEventType,
  type UnknownPushEvent,
} from "./event";
import { pushEventSchema, unknownEventSchema } from "./event-schema";
import type { Pair } from "./form";
import { parseJsonParameter } from "./json-parameter";

/** The parameters that hold stringified JSON, and how long it may be (section 8). */
const MAX_CHARACTERS: Readonly<Record<string, number>> = {
  factor_metadata: 1024,
  challenge_details: Number.POSITIVE_INFINITY,
  challenge_hidden_details: Number.POSITIVE_INFINITY,
  challenge_metadata: 1024,
};

const JSON_PARAMETERS = Object.entries(MAX_CHARACTERS);
const V2_ONLY = V2_PARAMETERS.filter(
  (name) => !(V1_PARAMETERS as readonly string[]).includes(name),
);
/** Each by itself: an object takes the very string that it had before faster than an equal one. */
const KNOWN = new Map<string, string>(V2_PARAMETERS.map((name) => [name, name]));

/**
 * Parses an event that was stored as JSON, as `JSON.stringify` wrote it.
 *
 * @param json the text, or what `JSON.parse` made of it.
 * @throws WebhookError `PAYLOAD_INVALID` when it is not an event.
 */
export function parsePushEvent(json: unknown): PushEvent | UnknownPushEvent {
  const { value, problem } =
    typeof json === "string" ? parseJsonParameter(json, Number.POSITIVE_INFINITY) : { value: json };
  if (problem !== undefined || typeof value !== "object" || value === null) {
    throw invalid(["the stored event is not a JSON object"]);
  }
  const { type } = value as { type?: string };
  return isPushEventType(type) ? check(pushEventSchema, value) : check(unknownEventSchema, value);
}

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
  const event = parseDraft(collectDraft(params));
  // Set after the check: the schema of the pairs would cost as much as all the others.
  (event as { params: readonly Pair[] }).params = params;
  return event;
}

function parseDraft(draft: Draft): PushEvent | UnknownPushEvent {
  const type = draft.type as string | undefined;
  if (!isPushEventType(type)) return check(unknownEventSchema, draft);

  const isV2 = V2_ONLY.some((name) => draft[name] !== undefined && belongsTo(name, type));
  draft.version = isV2 ? "v2" : "v1";
  for (const [name, maxCharacters] of JSON_PARAMETERS) {
    const text = draft[name];
    if (typeof text !== "string" || !belongsTo(name, type)) continue;
    const { value, problem } = parseJsonParameter(text, maxCharacters);
    if (problem === undefined) draft[name] = value;
    else dropField(draft, name, problem);
  }
  return checkKnown(draft);
}

interface Draft extends Record<string, unknown> {
  params: Pair[];
  issues: EventIssue[];
}

function checkKnown(draft: Draft): PushEvent {
  const result = pushEventSchema.safeParse(draft);
  if (result.success) return result.data;
  for (const name of new Set(result.error.issues.map(({ path }) => String(path[0])))) {
    if (name in MAX_CHARACTERS) dropField(draft, name, "does not have the specified members");
  }
  return check(pushEventSchema, draft);
}

function dropField(draft: Draft, name: string, problem: string): void {
  delete draft[name];
  draft.issues.push({ param: name, message: problem });
}

/** Factor events carry no challenge_* parameters: one that does keeps them raw. */
function belongsTo(name: string, type: PushEventType): boolean {
  return !name.startsWith("challenge_") || type.startsWith("challenge.");
}

function collectDraft(params: readonly Pair[]): Draft {
  // The pairs themselves are put in at the end; see parsePayload.
  const draft: Draft = { params: [], issues: [] };
  for (const [received, value] of params) {
    const name = KNOWN.get(received);
    if (name === undefined) continue;
    // Also when the values are equal: the signature of a=1&a=1 is that of a=1.
    if (draft[name] !== undefined) throw invalid([`${name} is repeated`]);
    draft[name] = value;
  }
  return draft;
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
