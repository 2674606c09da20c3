import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ApiFailure } from "./api-error";

/** How requests are sent. */
export interface TransportSettings {
  username: string;
  password: string;
  timeoutMs: number;
  maxRetries: number;
  fetch: typeof globalThis.fetch;
}

/** What each call may be given beside its arguments. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** One request to the service. */
export interface ApiRequest extends CallOptions {
  method: "GET" | "POST" | "DELETE";
  url: string;
  /** The parameters of a POST. */
  form?: readonly [name: string, value: string][];
}

/** What a response must be; a schema of zod is one. */
export interface ResponseSchema<Output> {
  safeParse(
    value: unknown,
  ): { success: true; data: Output } | { success: false; data?: never; error: unknown };
}

/** Sends a request and returns the parsed response; undefined for one without a body. */
export type Send = <Output>(request: ApiRequest, schema: ResponseSchema<Output>) => Promise<Output>;

const FIRST_PAUSE_MS = 200;

/**
 * Makes the function that sends requests: HTTP Basic, form-encoded, redirects not followed, and
 * within `timeoutMs` for all tries together.
 *
 * Tried again (specification, section 8): a 429; for GET and DELETE also a 5xx or no answer. The
 * pause is what `Retry-After` says, else full jitter.
 *
 * @throws ApiError (by what it returns); the reason of `signal`.
 */
export function createSend(settings: TransportSettings): Send {
  const { username, password, timeoutMs, maxRetries } = settings;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

  async function sendOnce(request: ApiRequest, signal: AbortSignal): Promise<Answer> {
    const { method, url, form } = request;
    const headers: Record<string, string> = { authorization, accept: "application/json" };
    if (form !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
    const body = form && new URLSearchParams([...form]).toString();
    const response = await settings.fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    });
    return {
      status: response.status,
      text: await readText(response),
      retryAfter: response.headers.get("retry-after"),
    };
  }

  async function sendWithin(request: ApiRequest, timeout: AbortSignal): Promise<Answer> {
    const signals = [timeout, ...(request.signal === undefined ? [] : [request.signal])];
    const signal = AbortSignal.any(signals);
    const startedMs = performance.now();
    for (let retry = 0; ; retry++) {
      const answer = await sendOnce(request, signal).catch((error: unknown) => {
        request.signal?.throwIfAborted();
        if (timeout.aborted) throw failure(request, "TIMEOUT", error);
        if (error instanceof TooLarge) throw failure(request, "BAD_RESPONSE", error);
        return failure(request, "UNREACHABLE", error);
      });
      const isDeleted = retry > 0 && request.method === "DELETE" && answer.status === 404;
      // The try before this one did it, and its answer was lost.
      if (isDeleted) return { status: 204, text: "", retryAfter: null };
      const pauseMs = choosePause(answer, retry);
      const isTooLate = performance.now() - startedMs + pauseMs > timeoutMs;
      if (!isRetried(request, answer) || retry >= maxRetries || isTooLate) {
        if (answer instanceof ApiError) throw answer;
        return answer;
      }
      await sleep(pauseMs, undefined, { signal: request.signal }).catch(() => {});
      request.signal?.throwIfAborted();
    }
  }

  return async function send(request, schema) {
    request.signal?.throwIfAborted();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      const answer = await sendWithin(request, timeout.signal);
      return readAnswer(request, answer, schema);
    } finally {
      clearTimeout(timer);
    }
  };
}

const MAX_ANSWER_BYTES = 8_388_608;

/** An answer as text, unless it is larger than any page of the service. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

class TooLarge extends Error {
  override readonly message = `The answer is over ${MAX_ANSWER_BYTES} bytes.`;
}

interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

function isRetried({ method }: ApiRequest, answer: Answer | ApiError): boolean {
  if (answer.status === 429) return true;
  return method !== "POST" && (answer.status === 0 || answer.status >= 500);
}

function choosePause(answer: Answer | ApiError, retry: number): number {
  const seconds = answer instanceof ApiError ? undefined : readRetryAfter(answer.retryAfter);
  return seconds === undefined ? Math.random() * FIRST_PAUSE_MS * 2 ** retry : seconds * 1_000;
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
}

function readAnswer<Output>(
  request: ApiRequest,
  answer: Answer,
  schema: ResponseSchema<Output>,
): Output {
  const { status, text } = answer;
  if (status >= 300 && status < 400) throw failure(request, "REDIRECTED", undefined, status);
  const json = parseJson(text);
  if (status < 200 || status >= 300) throw readProblem(request, answer, json);
  const result = schema.safeParse(status === 204 ? undefined : json);
  if (result.success) return result.data;
  throw failure(request, "BAD_RESPONSE", undefined, status);
}

function readProblem(request: ApiRequest, answer: Answer, json: unknown): ApiError {
  const { status } = answer;
  const problem = (typeof json === "object" && json !== null ? json : {}) as Record<
    string,
    unknown
  >;
  // A problem of RFC 9457 has `detail` and `title` instead of a message.
  const said = [problem.message, problem.detail, problem.title].find(isText);
  return new ApiError(said ?? `The service answered ${status} and did not say why.`, {
    ...describe(request),
    code: "SERVICE_ERROR",
    serviceCode: typeof problem.code === "number" ? problem.code : undefined,
    status,
    more_info: isText(problem.more_info) ? problem.more_info : undefined,
    retryAfterSeconds: readRetryAfter(answer.retryAfter),
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // HTML of a proxy, an empty or a truncated body: the caller gets undefined.
    return undefined;
  }
}

const MESSAGES: Record<ApiFailure, string> = {
  UNREACHABLE: "The service could not be reached; see the cause.",
  TIMEOUT: "The service did not answer within timeoutMs.",
  BAD_RESPONSE: "The service answered with something else than specified. Check its base URL.",
  REDIRECTED: "The service answered with a redirect, which is not followed. Check its base URL.",
  FOREIGN_PAGE: "The service named a page of another origin, which is not followed.",
  OWN_KEY: "This is the Key that the client itself uses. Delete it with force, or with another.",
};

/** An error that the service did not send. */
export function failure(
  request: Pick<ApiRequest, "method" | "url">,
  code: ApiFailure,
  cause?: unknown,
  status = 0,
): ApiError {
  return new ApiError(MESSAGES[code], { ...describe(request), code, status }, { cause });
}

function describe({ method, url }: Pick<ApiRequest, "method" | "url">) {
  return { method, path: new URL(url).pathname };
}
