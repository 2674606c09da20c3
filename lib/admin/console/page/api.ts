import { parseJson } from "../../../kit/text";
import type { ActionLine, ConsoleSettings } from "../console-view";
import { createStore } from "./store";

/** The settings of this console: they are loaded before anything that needs them is drawn. */
export let settings: ConsoleSettings;

/** Loads the settings, once. */
export async function loadSettings(): Promise<void> {
  settings = await read<ConsoleSettings>("console");
}

/** The URL that a webhook of the receiver should have. */
export const readPublicUrl = (): string => settings.receiver?.publicUrls[0] ?? "";

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

/** Sends a write to the router; the path is relative to the page. @throws ProblemError */
export const send = <Result>(method: Method, path: string, body?: object): Promise<Result> =>
  request<Result>(path, { method }, body);

/** Reads something of the router, with a body by a POST. @throws ProblemError */
export function read<Result>(path: string, body?: object): Promise<Result> {
  const method = body === undefined ? "GET" : "POST";
  return request<Result>(path, { method, signal: AbortSignal.timeout(LONGEST_READ_MS) }, body);
}

async function request<Result>(path: string, init: RequestInit, body?: object): Promise<Result> {
  const response = await open(path, init, body);
  return readJson(response, await response.text().catch(() => fail(UNREACHABLE))) as Result;
}

function open(path: string, init: RequestInit, body?: object): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const content = body && { headers, body: JSON.stringify(body) };
  return fetch(path, { redirect: "manual", ...init, ...content }).catch(() => fail(UNREACHABLE));
}

function fail(problem: ProblemError): never {
  throw problem;
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
function readJson({ type, ok, status, headers }: Response, text: string): unknown {
  const json = parseJson(text);
  const { code, message } = Object(json) as { code?: number | string; message?: string };
  const isOver =
    type === "opaqueredirect" ||
    (ok && status !== 204 && typeof json !== "object") ||
    status === 401 ||
    (status === 403 && (code === undefined || code === "FORBIDDEN"));
  if (isOver !== session.value.isOver) session.value = { isOver };
  if (isOver) throw new ProblemError(403, "SIGNED_OUT", "You are signed out, or may not do this.");
  if (ok) return json;
  const shown = message ?? MESSAGES[status] ?? `The server responded ${status}.`;
  const retryAfterMs = 1_000 * Number(headers.get("Retry-After") ?? NaN);
  throw new ProblemError(status, String(code ?? status), shown, Date.now() + (retryAfterMs || 0));
}

/**
 * Runs an action on many: reports how far it is, and resolves with its last line. When `stop` is
 * aborted, the server stops, and there is no result.
 *
 * @throws ProblemError also when the connection is lost; `report` has said what was done.
 */
export async function runAction(
  path: string,
  body: object,
  stop: AbortSignal,
  report: (line: ActionLine) => void,
): Promise<ActionLine> {
  const response = await open(path, { method: "POST", signal: stop }, body);
  if (!response.ok || response.body === null) readJson(response, await response.text());
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let last: ActionLine = { done: 0, count: 0 };
  let text = "";
  for (;;) {
    const chunk = await reader?.read().catch(() => undefined);
    text += decoder.decode(chunk?.value, { stream: true });
    const lines = text.split("\n");
    const isOver = chunk?.done !== false;
    text = isOver ? "" : (lines.pop() ?? "");
    for (const line of lines.filter(Boolean))
      report((last = readJson(response, line) as ActionLine));
    if (isOver) break;
  }
  const { error, result } = last;
  if (error !== undefined) throw new ProblemError(error.status, error.code, error.message);
  if (result === undefined && !stop.aborted) fail(UNREACHABLE);
  return last;
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
