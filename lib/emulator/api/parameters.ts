import * as z from "../../validation/zod";
import { decodeForm, isFormType, type Pair } from "../../form/form";
import { parseJson } from "../../form/text";
import type { EndpointRequest } from "./endpoint-router";
import { EmulatorError, type EmulatorErrorCode } from "../emulator-error";

/** Returns the code of the error for a parameter that is missing or has an invalid value. */
type ChooseErrorCode = (name: string, isMissing: boolean) => EmulatorErrorCode;

/**
 * Reads parameters by a schema whose members are their names; ignores other parameters.
 *
 * @throws EmulatorError with the code that `chooseCode` returns, and the name of the parameter.
 */
export function readParameters<Schema extends z.ZodType>(
  pairs: readonly Pair[],
  schema: Schema,
  chooseCode: ChooseErrorCode = () => "REQUEST_INVALID",
): z.output<Schema> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  const result = schema.safeParse(Object.fromEntries(values));
  if (result.success) return result.data;
  const name = String(result.error.issues[0]?.path[0]);
  throw invalidParameter(name, chooseCode(name, !values.has(name)));
}

/** Names the members of a resource as its parameters are named: `WebhookUrl` is `webhook_url`. */
export function toMembers(given: object, prefix = ""): Record<string, unknown> {
  const members = Object.entries(given)
    .filter(([name, value]) => name.startsWith(prefix) && value !== undefined)
    .map(([name, value]: [string, unknown]) => {
      const words = name.slice(prefix.length).replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`);
      return [words.toLowerCase(), value] as const;
    });
  return Object.fromEntries(members);
}

/** Creates the error of an invalid parameter, with its name. */
export function invalidParameter(
  name: string,
  code: EmulatorErrorCode = "REQUEST_INVALID",
): EmulatorError {
  return new EmulatorError(code, `Invalid parameter: ${name}`);
}

/** Creates the schema of a list, which is a repeated name: `EventTypes=a&EventTypes=b`. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(item));
}

/** Creates the schema of a parameter whose text is JSON. */
export function jsonOf<Schema extends z.core.$ZodType>(schema: Schema) {
  return z.string().transform(parseJson).pipe(schema);
}

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
    return decodeForm(encoded);
  } catch {
    // The decoder's own message is about webhook requests.
    throw new EmulatorError("BAD_REQUEST", `Bad request: the ${what} is malformed`);
  }
}
