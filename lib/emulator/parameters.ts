import { decodeForm, isFormType, type Pair } from "../form";
import type { ApiRequest } from "./api";
import { EmulatorError } from "./errors";

/** The parameters of a request by name, each with all its values. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the form of a POST; arrays are repeated names: `EventTypes=a&EventTypes=b`.
 *
 * @throws EmulatorError 20001 for a body that is no form.
 */
export function readForm({ body, contentType }: ApiRequest): Parameters {
  if (body.length === 0) return new Map();
  if (!isFormType(contentType)) {
    throw new EmulatorError(
      "BAD_REQUEST",
      "Bad request: the body must be application/x-www-form-urlencoded",
    );
  }
  return groupPairs(decode(body));
}

/**
 * The one value of a parameter; undefined when it is missing.
 *
 * @throws EmulatorError 60200 when it is repeated.
 */
export function readOne(parameters: Parameters, name: string): string | undefined {
  const values = parameters.get(name) ?? [];
  if (values.length > 1) throw invalidParameter(name);
  return values[0];
}

/** The refusal of a parameter by name. */
export function invalidParameter(name: string): EmulatorError {
  return new EmulatorError("PARAMETER_INVALID", `Invalid parameter: ${name}`);
}

function decode(body: Buffer): Pair[] {
  try {
    return decodeForm(body);
  } catch {
    // The message of a receiver's error is about calls.
    throw new EmulatorError("BAD_REQUEST", "Bad request: the form is malformed");
  }
}

function groupPairs(pairs: readonly Pair[]): Parameters {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}
