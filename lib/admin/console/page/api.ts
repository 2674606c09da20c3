import { parseJson } from "../../../form/text";

/** A request to the router that failed. */
export class ProblemError extends Error {
  constructor(
    /** The HTTP status; 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Sends a request to the router; the path is relative to the page, wherever that is.
 *
 * @throws ProblemError
 */
export async function send<Result>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<Result> {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ProblemError(0, "UNREACHABLE", "The server does not respond. Check the connection.");
  });
  if (!response.ok) throw await readProblem(response);
  return parseJson(await response.text().catch(() => "")) as Result;
}

/** Reads why a request failed. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const json = parseJson(await response.text().catch(() => ""));
  const { code, message } = (json ?? {}) as { code?: unknown; message?: unknown };
  return new ProblemError(
    response.status,
    typeof code === "string" || typeof code === "number" ? String(code) : `${response.status}`,
    typeof message === "string" ? message : `The server responded ${response.status}.`,
  );
}

/** Describes a failure for people. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The page itself failed. Reload it.";
  if (error.code === "FORBIDDEN") return "You are signed out, or may not do this. Reload the page.";
  return `${error.message} (${error.code})`;
}
