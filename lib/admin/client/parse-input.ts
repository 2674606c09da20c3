import type { z } from "zod";
import { InputError } from "./input-error";

/**
 * Parses an argument before a request is sent.
 *
 * @param what name of the argument in the message.
 * @throws InputError when the schema does not accept the argument.
 */
export function parseInput<Schema extends z.ZodType>(
  what: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InputError(
    what,
    result.error.issues.map(({ path, message }) => ({ path: path.join(".") || what, message })),
  );
}
