import type { z } from "zod";

/** An argument that the service would refuse; nothing was sent. */
export class InputError extends TypeError {
  override readonly name = "InputError";
  /** What is wrong with which member; never its value. */
  readonly issues: readonly { path: string; message: string }[];

  constructor(what: string, issues: readonly { path: string; message: string }[]) {
    const problems = issues.map(({ path, message }) =>
      path === what ? message : `${path}: ${message}`,
    );
    super(`${what}: ${[...new Set(problems)].join("; ")}`);
    this.issues = issues;
  }
}

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
