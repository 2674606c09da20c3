import type { z } from "zod";
import { InputError } from "./input-error";

/**
 * Checks an argument before anything is sent.
 *
 * @param what names it in the message.
 * @throws InputError
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
