import type * as z from "zod/mini";
import { hasParameter, KNOWN_NAMES, listParameterNames } from "./event-parameters";
import type { Pair } from "../../kit/pairs";
import { WebhookError } from "../errors/webhook-error";
import { isPushEventType, PUSH_EVENT_TYPES } from "./event";
import type { EventIssue, PushEvent, PushEventType, UnknownPushEvent, AnyEvent } from "./event";
import { findDetailsFault, pushEventSchema, unknownEventSchema } from "./schema";

/** The parameters that are stringified JSON, and their maximum length in characters (section 8). */
const MAX_JSON_CHARACTERS: Readonly<Record<string, number>> = {
  factor_metadata: 1024,
  challenge_details: Number.POSITIVE_INFINITY,
  challenge_hidden_details: Number.POSITIVE_INFINITY,
  challenge_metadata: 1024,
};

/** Details and metadata have few levels; JSON.stringify fails at some thousands. */
const MAX_LEVELS = 32;

/** The parameters of each type that only v2 has, and its JSON parameters. */
const PARAMETERS_BY_TYPE = new Map(
  PUSH_EVENT_TYPES.map((type) => {
    const v1 = listParameterNames(type, "v1");
    const v2Only = listParameterNames(type, "v2").filter((name) => !v1.includes(name));
    const json = Object.entries(MAX_JSON_CHARACTERS).filter(([name]) => hasParameter(type, name));
    return [type, { v2Only, json }];
  }),
);

const RECEIVED = "The webhook request is signed but not as specified";
const STORED = "The stored event is not as specified";

/**
 * Parses an event that `JSON.stringify` wrote: its text, or the value that `JSON.parse` returned.
 *
 * @throws WebhookError `PAYLOAD_INVALID` when `json` is not an event.
 */
export function parsePushEvent(json: unknown): PushEvent | UnknownPushEvent {
  const { value, problem } =
    typeof json === "string" ? parseJsonParameter(json, Number.POSITIVE_INFINITY) : { value: json };
  if (problem !== undefined || typeof value !== "object" || value === null) {
    throw createInvalidError(STORED, ["it is not a JSON object"]);
  }
  const { type } = value as { type?: string };
  return check(isPushEventType(type) ? pushEventSchema : unknownEventSchema, value, STORED);
}

/**
 * Parses the parameters of an authenticated webhook request into its event.
 *
 * The event is v2 if it has a parameter that only v2 has. The field of a JSON parameter that cannot be
 * parsed is absent, and `event.issues` says why.
 *
 * @throws WebhookError `PAYLOAD_INVALID` for a parameter that is missing, malformed or repeated.
 */
export function parseEvent(params: readonly Pair[]): AnyEvent {
  const event = parseDraft(collectDraft(params));
  // Not checked by the schema: the decoder of the form made the pairs.
  (event as { params: readonly Pair[] }).params = params;
  return event;
}

function parseDraft(draft: Draft): AnyEvent {
  const parameters = PARAMETERS_BY_TYPE.get(draft.type as PushEventType);
  if (parameters === undefined) return check(unknownEventSchema, draft, RECEIVED);

  draft.version = parameters.v2Only.some((name) => draft[name] !== undefined) ? "v2" : "v1";
  for (const [name, maxCharacters] of parameters.json) {
    const text = draft[name];
    if (typeof text !== "string") continue;
    // Absent: senders write "" or, as the API of the service shows absent metadata, null.
    const { value, problem } =
      text === "" ? { value: null } : parseJsonParameter(text, maxCharacters);
    if (problem !== undefined) dropField(draft, name, problem);
    else if (value === null) delete draft[name];
    else draft[name] = value;
  }
  return checkKnown(draft);
}

type Draft = Record<string, unknown> & { params: Pair[]; issues: EventIssue[] };

function checkKnown(draft: Draft): PushEvent {
  const result = pushEventSchema.safeParse(draft);
  if (result.success) return result.data;
  for (const name of new Set(result.error.issues.map(({ path }) => String(path[0])))) {
    if (!(name in MAX_JSON_CHARACTERS)) continue;
    const member = name === "challenge_details" ? findDetailsFault(draft[name]) : undefined;
    const problem = "does not have the specified members";
    dropField(draft, name, member ? `${problem}: see ${member}` : problem);
  }
  return check(pushEventSchema, draft, RECEIVED);
}

function dropField(draft: Draft, name: string, problem: string): void {
  delete draft[name];
  draft.issues.push({ param: name, message: problem });
}

function collectDraft(params: readonly Pair[]): Draft {
  // parseEvent sets the pairs at the end.
  const draft: Draft = { params: [], issues: [] };
  for (const [name, value] of params) {
    if (!KNOWN_NAMES.has(name)) continue;
    // Equal values are rejected too: a=1&a=1 and a=1 have the same signature.
    if (draft[name] !== undefined) throw createInvalidError(RECEIVED, [`${name} is repeated`]);
    draft[name] = value;
  }
  return draft;
}

function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  event: unknown,
  subject: string,
): z.infer<Schema> {
  const result = schema.safeParse(event);
  if (result.success) return result.data;
  throw createInvalidError(
    subject,
    result.error.issues.map(({ path, message }) => {
      const name = String(path[0]);
      const missing = (event as Record<string, unknown>)[name] === undefined;
      return missing ? `${name} is missing` : `${name} is malformed (${message})`;
    }),
  );
}

function createInvalidError(subject: string, problems: readonly string[]): WebhookError {
  return new WebhookError("PAYLOAD_INVALID", `${subject}: ${problems.join("; ")}.`);
}

/**
 * Parses the text of a parameter that is stringified JSON, of at most 32 levels.
 *
 * @returns its `value`, or a description of the `problem` that quotes nothing from the text.
 */
function parseJsonParameter(
  text: string,
  maxCharacters: number,
): { value?: unknown; problem?: string } {
  if (text.length > maxCharacters) return { problem: `is over ${maxCharacters} characters` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The SyntaxError quotes the text, which is personal data.
    return { problem: "is not JSON" };
  }
  const problem = mayBeUnsafe(text) ? findFault(value) : undefined;
  return problem === undefined ? { value } : { problem };
}

/** Returns whether the value of a text needs a walk, which is rare. */
function mayBeUnsafe(text: string): boolean {
  if (text.includes("__proto__") || text.includes("\\u")) return true;
  let brackets = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) brackets++;
  }
  return brackets > MAX_LEVELS;
}

function findFault(json: unknown): string | undefined {
  let level = [json];
  for (let depth = 0; ; depth++) {
    level = level.filter((value) => typeof value === "object" && value !== null);
    if (level.length === 0) return undefined;
    if (depth === MAX_LEVELS) return `is nested more than ${MAX_LEVELS} levels deep`;
    if (level.some((value) => Object.hasOwn(value as object, "__proto__"))) {
      return "has a member named __proto__";
    }
    level = level.flatMap((value) => Object.values(value as object) as unknown[]);
  }
}
