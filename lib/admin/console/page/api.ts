import { parseJson } from "../../../kit/text";
import type { ConsoleSettings } from "../console-view";
import { createStore } from "./store";

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
/** A connection that is half open has no response. */
const LONGEST_READ_MS = 60_000;

/** Whether the last response was that of a signed-out person. */
export const session = createStore({ isOver: false });

/** A request to the router that failed. */
export class ProblemError extends Error {
  constructor(
    /** The HTTP status; 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** When to try again; 0 when the server does not say. */
    readonly retryAtMs = 0,
  ) {
    super(message);
  }
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Sends a request to the router; the path is relative to the page. @throws ProblemError */
export async function send<Result>(
  method: Method,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Result> {
  const headers = { "Content-Type": "application/json" };
  const content = body && { headers, body: JSON.stringify(body) };
  for (let attempt = 1; ; attempt++) {
    const limit = method === "GET" ? AbortSignal.timeout(LONGEST_READ_MS) : (signal ?? null);
    const sent = { method, signal: limit, redirect: "manual", ...content } as const;
    const found = await fetch(path, sent).then(readResponse, () => UNREACHABLE);
    if (!(found instanceof ProblemError)) return found as Result;
    // A balancer sends the next attempt elsewhere; the other process did nothing.
    if (found.code !== "ANOTHER_PROCESS" || attempt === MAX_PROCESSES) throw found;
  }
}

const UNREACHABLE = new ProblemError(0, "UNREACHABLE", "The server does not respond.");
/** In place of the page that a proxy or the app responds with. */
const MESSAGES: Readonly<Record<number, string>> = {
  404: "The console is not at this address any more.",
  429: "The server receives too many requests. Try again later.",
};

/**
 * Reads the JSON of a response, or why there is none. An app redirects those who are signed out to
 * its login, or responds with the page of it: neither is a response of the router.
 */
async function readResponse(response: Response): Promise<unknown> {
  const { type, ok, status, headers } = response;
  const text = await response.text().catch(() => undefined);
  if (text === undefined) return UNREACHABLE;
  const json = parseJson(text);
  const { code, message } = Object(json) as { code?: number | string; message?: string };
  const isOver =
    type === "opaqueredirect" ||
    (ok && status !== 204 && typeof json !== "object") ||
    status === 401 ||
    (status === 403 && (code === undefined || code === "FORBIDDEN"));
  if (isOver !== session.value.isOver) session.value = { isOver };
  if (isOver) return new ProblemError(403, "SIGNED_OUT", "You are signed out, or may not do this.");
  if (ok) return json;
  const shown = message ?? MESSAGES[status] ?? `The server responded ${status}.`;
  const retryAfterMs = 1_000 * Number(headers.get("Retry-After") ?? NaN);
  return new ProblemError(status, String(code ?? status), shown, Date.now() + (retryAfterMs || 0));
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

/** Describes a failure for people. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The page itself failed. Reload it.";
  const { code, message } = error;
  return code === "" || code === "SIGNED_OUT" ? message : `${message} (${code})`;
}
