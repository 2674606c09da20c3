import * as z from "zod";
import type { Pair } from "../../kit/pairs";
import { isFormType } from "../../kit/form-type";
import { parseJson } from "../../kit/text";
import type { EndpointRequest } from "./endpoint-router";
import { EmulatorError, type EmulatorErrorCode } from "../emulator-error";
import { limitedMetadataSchema, textSchema } from "../resources/schemas";

/** The members whose parameters have a prefix, as `config` of `Config.AppId`. */
const GROUPS: ReadonlySet<string> = new Set(["binding", "config", "details"]);

/**
 * Reads parameters by a schema whose members have the names of resources: `friendly_name` is the
 * parameter `FriendlyName`, and `app_id` in `config` is `Config.AppId`. Ignores other parameters.
 *
 * @throws EmulatorError with the code that `chooseCode` returns, and the name of the parameter.
 */
export function readParameters<Schema extends z.ZodType>(
  pairs: readonly Pair[],
  schema: Schema,
  chooseCode: (name: string, isMissing: boolean) => EmulatorErrorCode = () => "REQUEST_INVALID",
): z.output<Schema> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  const members = new Map<string, unknown>();
  for (const [name, value] of values) {
    if (!/^[A-Z][A-Za-z]*(\.[A-Z][A-Za-z]*)?$/.test(name)) continue;
    const [outer = "", inner] = name.split(".").map(toMember);
    if (GROUPS.has(outer) !== (inner !== undefined)) continue;
    const fields = members.get(outer) as object | undefined;
    members.set(outer, inner === undefined ? value : { ...fields, [inner]: value });
  }
  const result = schema.safeParse(Object.fromEntries(members));
  if (result.success) return result.data;
  // Deeper parts of the path are within the JSON of a parameter, or are the index of a repeated one.
  const [issue] = result.error.issues;
  const path = issue?.path.slice(0, 2) ?? [];
  const name = path
    .filter((part) => typeof part === "string")
    .map(toParameter)
    .join(".");
  const code = chooseCode(name, !values.has(name));
  const reason = issue?.message.startsWith("must be") ? ` (${issue.message})` : "";
  throw createParameterError(name + reason, code);
}

function toMember(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

function toParameter(member: string): string {
  return member.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function createParameterError(
  name: string,
  code: EmulatorErrorCode = "REQUEST_INVALID",
): EmulatorError {
  return new EmulatorError(code, `Invalid parameter: ${name}`);
}

/** Creates the schema of a list, which is a repeated name: `EventTypes=a&EventTypes=b`. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(item));
}

/** Creates the schema of parameters with a prefix such as `Config.`; an error names one of them. */
export function group<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.preprocess((value = {}) => value, z.object(shape));
}

/** Creates the schema of a parameter whose text is JSON. */
export function jsonOf<Schema extends z.core.$ZodType>(schema: Schema) {
  return z.string().transform(parseJson).pipe(schema);
}

/** Creates the schema of a whole number in a range. */
export function wholeBetween(min: number, max: number) {
  return z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(min).max(max));
}

/** A name that a user reads. */
export const nameSchema = textSchema.min(1).max(64);
/** The answer of a device. */
export const payloadSchema = z.string().min(1).max(5456);
/** Custom data of a device, as JSON. */
export const metadataParameter = jsonOf(limitedMetadataSchema);

/** The form of a POST, as pairs. @throws EmulatorError 20001 for a body that is not a form. */
export function readForm({ body, contentType }: EndpointRequest): Pair[] {
  if (body.length === 0) return [];
  if (!isFormType(contentType)) {
    const message = "Bad request: the body must be application/x-www-form-urlencoded";
    throw new EmulatorError("BAD_REQUEST", message);
  }
  return decodeParameters(body, "form");
}

/** Decodes the bytes of a form or of a query. @throws EmulatorError 20001 for malformed ones. */
export function decodeParameters(encoded: Uint8Array, what: "form" | "query"): Pair[] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
    // URLSearchParams accepts any text: this throws for broken percent-encoding.
    decodeURIComponent(text);
    return [...new URLSearchParams(text)];
  } catch {
    throw new EmulatorError("BAD_REQUEST", `Bad request: the ${what} is malformed`);
  }
}
