import { setTimeout as sleep } from "node:timers/promises";
import { encodeForm, parseJson } from "../../form/text";
import type { Pair } from "../../form/form";
import { ApiError, createApiError, type FailedRequest } from "./api-error";
import type { AdminClientOptions } from "./options";

/** Options of each method of the client. */
export interface RequestOptions {
  /** Aborts the request: the promise rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** Request to the service. */
export interface ServiceRequest extends FailedRequest, RequestOptions {
  method: "GET" | "POST" | "DELETE";
  /** Parameters of a POST. */
  form?: readonly Pair[];
}

/** Response of the service before it is parsed. */
interface ServiceResponse {
  status: number;
  /** Body as UTF-8. */
  text: string;
  /** The `Retry-After` of the response, in seconds from now; undefined when there is none. */
  retryAfterSeconds: number | undefined;
}

/** Schema of a response body. Not a type of zod, which the package's declarations must not name. */
export interface ResponseSchema<Output> {
  safeParse(value: unknown): { success: true; data: Output } | { success: false; data?: never };
}

/** Sends a request and returns the parsed response; undefined for a response without a body. */
export type Transport = ReturnType<typeof createTransport>;

const FIRST_PAUSE_MS = 200;
const MAX_RESPONSE_BYTES = 8_388_608;

/**
 * Creates the function that sends requests to the service: HTTP Basic, form-encoded, without
 * following redirects, within `timeoutMs` for all attempts together.
 *
 * Retries a 429, and for GET and DELETE also a 5xx or a missing response (specification, section 8).
 * The pause before a retry is the response's `Retry-After`, else random (full jitter).
 *
 * @throws ApiError (from the returned function); the reason of `signal`.
 */
export function createTransport(options: AdminClientOptions, username: string) {
  const { password, timeoutMs = 10_000, maxRetries = 2, fetch = globalThis.fetch } = options;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

  async function sendOnce(request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> {
    const { method, url, form } = request;
    const headers: Record<string, string> = { authorization, accept: "application/json" };
    if (form !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
    const body = form === undefined ? null : encodeForm(form);
    const init = { method, headers, body, redirect: "manual", signal } as const;
    return readResponse(request, await fetch(url, init));
  }

  async function sendWithRetries(request: ServiceRequest, timeout: AbortSignal) {
    const signal = AbortSignal.any([timeout, request.signal].filter((one) => one !== undefined));
    const startedMs = performance.now();
    for (let retry = 0; ; retry++) {
      const response = await sendOnce(request, signal).catch((error: unknown) => {
        request.signal?.throwIfAborted();
        if (timeout.aborted) throw createApiError(request, "TIMEOUT", error);
        if (error instanceof ApiError) throw error;
        return createApiError(request, "UNREACHABLE", error);
      });
      const isDeleted = retry > 0 && request.method === "DELETE" && response.status === 404;
      // The previous attempt deleted the resource and its response was lost.
      if (isDeleted) return { status: 204, text: "", retryAfterSeconds: undefined };
      const pauseMs = choosePause(response, retry);
      const isTooLate = performance.now() - startedMs + pauseMs > timeoutMs;
      if (!isRetried(request, response) || retry >= maxRetries || isTooLate) {
        if (response instanceof ApiError) throw response;
        return response;
      }
      await sleep(pauseMs, undefined, { signal: request.signal }).catch(() => {});
      request.signal?.throwIfAborted();
    }
  }

  return async function send<Output>(request: ServiceRequest, schema: ResponseSchema<Output>) {
    request.signal?.throwIfAborted();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      const response = await sendWithRetries(request, timeout.signal);
      return parseResponse(request, response, schema);
    } finally {
      clearTimeout(timer);
    }
  };
}

function isRetried({ method }: ServiceRequest, response: ServiceResponse | ApiError): boolean {
  if (response.status === 429) return true;
  return method !== "POST" && (response.status === 0 || response.status >= 500);
}

function choosePause({ retryAfterSeconds }: ServiceResponse | ApiError, retry: number): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000;
  return Math.random() * FIRST_PAUSE_MS * 2 ** retry;
}

/**
 * Reads a response of `fetch` to its end. Throws ApiError `BAD_RESPONSE` for a body over 8 MiB, which
 * is larger than any page of the service.
 */
async function readResponse(request: FailedRequest, response: Response): Promise<ServiceResponse> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) {
      const cause = new Error(`The response is over ${MAX_RESPONSE_BYTES} bytes.`);
      throw createApiError(request, "BAD_RESPONSE", cause);
    }
    chunks.push(chunk);
  }
  return {
    status: response.status,
    text: Buffer.concat(chunks).toString("utf8"),
    retryAfterSeconds: readRetryAfter(response.headers.get("retry-after")),
  };
}

/** Reads a `Retry-After`: a number, or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
}

/**
 * Parses a response against a schema; a 204 has no body and is parsed as undefined. Throws ApiError
 * for a redirect, an error status, or a body that does not match the schema.
 */
function parseResponse<Output>(
  request: FailedRequest,
  response: ServiceResponse,
  schema: ResponseSchema<Output>,
): Output {
  const { status, text } = response;
  if (status >= 300 && status < 400) throw createApiError(request, "REDIRECTED", undefined, status);
  const json = parseJson(text);
  if (status < 200 || status >= 300) throw createServiceError(request, response, json);
  const result = schema.safeParse(status === 204 ? undefined : json);
  if (result.success) return result.data;
  throw createApiError(request, "BAD_RESPONSE", undefined, status);
}

function createServiceError(
  { method, url, shownPath }: FailedRequest,
  { status, retryAfterSeconds }: ServiceResponse,
  json: unknown,
): ApiError {
  const body = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  // A problem of RFC 9457 has `detail` and `title` instead of a message.
  const given = shownPath === undefined ? [body.message, body.detail, body.title] : [];
  const message = given.find(isString);
  return new ApiError(message ?? `The service responded ${status} without a message.`, {
    method,
    path: shownPath ?? new URL(url).pathname,
    code: "SERVICE_ERROR",
    serviceCode: typeof body.code === "number" ? body.code : undefined,
    status,
    more_info: isString(body.more_info) ? body.more_info : undefined,
    retryAfterSeconds,
  });
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
