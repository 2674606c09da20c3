import { z } from "zod";
import { EmulatorError } from "../emulator-error";

/** The schema of text that can be sent: without lone surrogates, which have no UTF-8 form. */
export const textSchema = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "must be text");

/**
 * Validates the fields of a resource against a schema.
 *
 * @throws EmulatorError 60200 that names the first invalid field.
 */
export function validateFields<Schema extends z.ZodType>(
  schema: Schema,
  fields: unknown,
): z.infer<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const issue = describeFirstIssue(result.error);
  throw new EmulatorError("PARAMETER_INVALID", `Invalid parameter: ${issue}`);
}

/** Describes the first invalid field: its name, and the reason in parentheses. */
export function describeFirstIssue({ issues: [issue] }: z.ZodError): string {
  const name = issue?.code === "unrecognized_keys" ? issue.keys[0] : issue?.path.join(".");
  return `${name === undefined || name === "" ? "(all)" : name} (${issue?.message ?? ""})`;
}
