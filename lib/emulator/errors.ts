import { z } from "zod";

/** Every refusal of the service by name: its code and its HTTP status. */
export const REFUSALS = {
  BAD_REQUEST: { code: 20001, status: 400 },
  KEY_NAME_INVALID: { code: 20002, status: 400 },
  NOT_AUTHENTICATED: { code: 20003, status: 401 },
  METHOD_NOT_ALLOWED: { code: 20004, status: 405 },
  PAGE_SIZE_INVALID: { code: 20007, status: 400 },
  NOT_FOUND: { code: 20404, status: 404 },
  ILLEGAL_TRANSITION: { code: 20409, status: 409 },
  BODY_TOO_LARGE: { code: 20413, status: 413 },
  INTERNAL: { code: 20500, status: 500 },
  PAGE_TOKEN_INVALID: { code: 21481, status: 400 },
  PARAMETER_INVALID: { code: 60200, status: 400 },
  WEBHOOK_REQUEST_INVALID: { code: 60306, status: 400 },
  TOO_MANY_KEYS: { code: 70151, status: 400 },
} as const;

/** The name of one refusal: a key of {@link REFUSALS}. */
export type RefusalName = keyof typeof REFUSALS;

/** What the emulated service refused; over HTTP it is the body of the answer. */
export class EmulatorError extends Error {
  override readonly name = "EmulatorError";
  /** The service's number for what went wrong. */
  readonly code: number;
  /** The HTTP status that belongs to it. */
  readonly status: number;
  /** Headers that the answer must carry. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(refusal: RefusalName, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = REFUSALS[refusal].code;
    this.status = REFUSALS[refusal].status;
    this.headers = headers;
  }
}

/** The JSON that a refusal is answered with. */
export function toErrorBody({ code, status, message }: EmulatorError): object {
  return { code, message, more_info: `https://docs.example.test/errors/${code}`, status };
}

/** The refusal of a path that leads to nothing; the message repeats the path. */
export function notFound(path: string): EmulatorError {
  return new EmulatorError("NOT_FOUND", `The requested resource ${path} was not found`);
}

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
