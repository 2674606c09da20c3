import { z } from "zod";
import { EmulatorError } from "./errors";

/** Text that can be sent: without halves of characters that UTF-16 writes in two. */
export const textSchema = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "must be text");

/**
 * Checks the fields of a resource.
 *
 * @throws EmulatorError 60200 that names the first wrong one.
 */
export function checkFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: unknown,
): z.infer<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const problem = describeProblem(result.error);
  throw new EmulatorError("PARAMETER_INVALID", `Invalid parameter: ${problem}`);
}

/** The first thing that is wrong: the name of the field, and why in parentheses. */
export function describeProblem({ issues: [issue] }: z.ZodError): string {
  const name = issue?.code === "unrecognized_keys" ? issue.keys[0] : issue?.path.join(".");
  return `${name === undefined || name === "" ? "(all)" : name} (${issue?.message ?? ""})`;
}
