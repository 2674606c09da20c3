import type { z } from "zod";
import { WebhookError } from "./errors";
import {
  detailsSchema,
  hiddenDetailsSchema,
  isPushEventType,
  metadataSchema,
  pushEventSchema,
  unknownEventSchema,
  type PushEvent,
  type PushEventType,
  type UnknownPushEvent,
} from "./event";
import type { Pair } from "./form";
import { parseJsonParameter, type JsonParameter } from "./json-parameter";

const MAX_METADATA_CHARACTERS = 1024;

const JSON_PARAMETERS = {
  factor_metadata: { schema: metadataSchema, maxCharacters: MAX_METADATA_CHARACTERS },
  challenge_details: { schema: detailsSchema },
  challenge_hidden_details: { schema: hiddenDetailsSchema },
  challenge_metadata: { schema: metadataSchema, maxCharacters: MAX_METADATA_CHARACTERS },
} as const satisfies Record<string, JsonParameter>;

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

  const { type } = fields;
  const isV2 = V2_ONLY.some((name) => name in fields && belongsTo(name, type));
  event.version = isV2 ? "v2" : "v1";
  for (const [name, parameter] of Object.entries(JSON_PARAMETERS)) {
    const text = fields[name];
    if (text === undefined || !belongsTo(name, type)) continue;
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

/** Factor events carry no challenge_* parameters: one that does keeps them raw. */
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
