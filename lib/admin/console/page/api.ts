import { parseJson } from "../../../kit/text";
import type { ActionLine } from "../action-lines";
import type { ConsoleSettings } from "../console";
import { createStore, Loader } from "./store";

/** The settings of this console: nothing that needs them is drawn before they are loaded. */
export let settings: ConsoleSettings;

/** Loads the settings. */
export const settingsLoader = new Loader(async () => {
  settings = await read<ConsoleSettings>("console");
  return settings;
});

/** The URL that a webhook of the receiver should have. */
export const readPublicUrl = (): string => settings.receiver?.publicUrls[0] ?? "";

/** A connection that is half open has no response. */
const LONGEST_READ_MS = 60_000;

/** Whether the last response was for a person who is signed out. */
export const session = createStore({ isOver: false });

/** A request to the router that failed. */
export class ProblemError extends Error {
  constructor(
    /** The HTTP status; 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** When to try again; NaN of a date. */
    readonly retryAtMs = 0,
  ) {
    super(message);
  }
}

/** Sends a write to the router; the path is relative to the page. @throws ProblemError */
export async function send<Result>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Result> {
  const response = await open(path, { method, ...(signal && { signal }) }, body);
  return readJson(response, await response.text().catch(failUnreachable)) as Result;
}

/** Reads something of the router, with a body by a POST. @throws ProblemError */
export const read = <Result>(path: string, body?: object): Promise<Result> =>
  send<Result>(body ? "POST" : "GET", path, body, AbortSignal.timeout(LONGEST_READ_MS));

function open(path: string, init: RequestInit, body?: object): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const content = body && { headers, body: JSON.stringify(body) };
  return fetch(path, { redirect: "manual", ...init, ...content }).catch(failUnreachable);
}

/** In place of a response. */
export const UNREACHABLE = new ProblemError(0, "UNREACHABLE", "The server does not respond.");

function failUnreachable(): never {
  throw UNREACHABLE;
}

/** In place of the page that a proxy or the app responds with. */
const MESSAGES: Readonly<Record<number, string>> = {
  404: "The console is not at this address any more.",
  429: "The server receives too many requests. Try again later.",
};

/**
 * Reads the JSON of a response, or why there is none. An app redirects those who are signed out to
 * its login, or responds by itself: neither is a response of the router.
 */
function readJson({ type, ok, status, headers }: Response, text: string): unknown {
  const json = parseJson(text);
  const { code, message } = Object(json) as { code?: number | string; message?: string };
  const isOver =
    type === "opaqueredirect" ||
    status === 401 ||
    code === "FORBIDDEN" ||
    ((ok || status === 403) && !headers.has("Push-Console"));
  if (isOver !== session.value.isOver) session.value = { isOver };
  if (isOver) throw new ProblemError(403, "SIGNED_OUT", "You are signed out, or may not do this.");
  if (ok) return json;
  const shown = message ?? MESSAGES[status] ?? `The server responded ${status}.`;
  const retryAtMs = Date.now() + 1_000 * Number(headers.get("Retry-After"));
  throw new ProblemError(status, String(code ?? status), shown, retryAtMs);
}

/**
 * Runs an action on many: yields how far it is, at last its result or error. When `stop` is aborted, the
 * server stops. A connection that is lost ends it, too. @throws ProblemError
 */
export async function* runAction(
  path: string,
  body: object,
  stop: AbortSignal,
): AsyncGenerator<ActionLine> {
  const response = await open(path, { method: "POST", signal: stop }, body);
  if (!response.ok || response.body === null) readJson(response, await response.text());
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let isOver = false; !isOver;) {
    const chunk = await reader?.read().catch(() => undefined);
    isOver = chunk?.done !== false;
    const lines = (text + (chunk?.value ?? "")).split("\n");
    text = isOver ? "" : (lines.pop() ?? "");
    for (const line of lines.filter(Boolean)) yield readJson(response, line) as ActionLine;
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

/** Describes a failure for people. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The page itself failed. Reload it.";
  const { code, message } = error;
  return code === "" || code === "SIGNED_OUT" ? message : `${message} (${code})`;
}
