import { decodeForm, isFormType, type Pair } from "../../form/form";
import type { EndpointRequest } from "./endpoint-router";
import { EmulatorError } from "../emulator-error";

/** Parameters of a request by name, each with all its values. */
export type FormParameters = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the form of a POST. A list is a repeated name: `EventTypes=a&EventTypes=b`. Throws
 * EmulatorError 20001 for a body that is not a form.
 */
export function readForm({ body, contentType }: EndpointRequest): FormParameters {
  if (body.length === 0) return new Map();
  if (!isFormType(contentType)) {
    const message = "Bad request: the body must be application/x-www-form-urlencoded";
    throw new EmulatorError("BAD_REQUEST", message);
  }
  const parameters = new Map<string, string[]>();
  for (const [name, value] of decodeParameters(body, "form")) {
    parameters.set(name, [...(parameters.get(name) ?? []), value]);
  }
  return parameters;
}

/** Returns a value; undefined when it is missing. @throws EmulatorError 60200 for a repeated name. */
export function readSingle(parameters: FormParameters, name: string): string | undefined {
  const values = parameters.get(name) ?? [];
  if (values.length > 1) throw invalidParameter(name);
  return values[0];
}

/** Creates the error of an invalid parameter: 60200, with the name of the parameter. */
export function invalidParameter(name: string): EmulatorError {
  return new EmulatorError("PARAMETER_INVALID", `Invalid parameter: ${name}`);
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
