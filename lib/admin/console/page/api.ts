import { parseJson } from "../../../kit/text";
import type { ConsoleSettings } from "../console-view";

/** The settings of this console: they are loaded before anything that needs them is drawn. */
export let settings: ConsoleSettings;

/** Loads the settings, once. */
export async function loadSettings(): Promise<void> {
  settings = await send<ConsoleSettings>("GET", "console");
}

/** The URL that a webhook of the receiver should have. */
export function readPublicUrl(): string {
  return settings.receiver?.publicUrls[0] ?? "";
}

/** How many processes a balancer may try before one knows a request. */
const MAX_PROCESSES = 8;

/** A request to the router that failed. */
export class ProblemError extends Error {
  constructor(
    /** The HTTP status; 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** When to try again; 0 when the server does not say. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** Sends a request to the router; the path is relative to the page. @throws ProblemError */
export async function send<Result>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<Result> {
  const headers = { "Content-Type": "application/json" };
  const content = body && { headers, body: JSON.stringify(body) };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(path, { method, ...content }).catch(() => {
      throw new ProblemError(0, "UNREACHABLE", "The server does not respond.");
    });
    if (response.ok) return parseJson(await response.text().catch(() => "")) as Result;
    const problem = await readProblem(response);
    // A balancer sends the next attempt elsewhere; the other process did nothing.
    if (problem.code !== "ANOTHER_PROCESS" || attempt === MAX_PROCESSES) throw problem;
  }
}

/** Sends a write, loads the list that it changes again, and returns the announcement. */
export async function change(
  list: { reload: () => Promise<void> },
  said: string,
  ...write: Parameters<typeof send>
): Promise<string> {
  await send(...write);
  await list.reload();
  return said;
}

/** Reads why a request failed. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const json = parseJson(await response.text().catch(() => ""));
  const { status, headers } = response;
  const { code = status, message = `The server responded ${status}.` } = (json ?? {}) as {
    code?: number | string;
    message?: string;
  };
  const retryAfterMs = 1_000 * Number(headers.get("Retry-After") ?? 0);
  return new ProblemError(status, String(code), message, retryAfterMs);
}

/** Describes a failure for people. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The page itself failed. Reload it.";
  if (error.code === "FORBIDDEN") return "You are signed out, or may not do this. Reload the page.";
  return `${error.message} (${error.code})`;
}
