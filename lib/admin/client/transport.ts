import { setTimeout as sleep } from "node:timers/promises";
import { readLimited } from "../../kit/local-server";
import { encodeForm, parseJson } from "../../kit/text";
import type { Pair } from "../../kit/pairs";
import { pauseAfter } from "../../kit/backoff";
import { ApiError, createApiError, findErrorCode, type FailedRequest } from "./api-error";
import type { CheckedClientOptions, FetchOptions, ServiceResponse } from "./options";

/** A request to the service. */
export interface ServiceRequest extends FailedRequest, FetchOptions {
  method: "GET" | "POST" | "DELETE";
  /** Parameters of a POST. */
  form?: readonly Pair[];
  /** Receives the headers of a response that is no error. */
  onHeaders?: (headers: ServiceResponse["headers"]) => void;
}

/** A schema of zod, which the package's declarations must not name. */
export interface ResponseSchema<Output> {
  safeParse(value: unknown): { success: true; data: Output } | { success: false; data?: never };
}

/** See {@link Transport.send}. */
export type Send = Transport["send"];

/** Limits are counted in seconds: with shorter pauses, 100 calls against 20 a second would fail. */
const PAUSES = { firstMs: 200, longestMs: 2_000, jitter: 0.5 };
/** No page of the service is larger. */
const MAX_RESPONSE_BYTES = 8_388_608;

/**
 * Sends requests to the service: HTTP Basic, form-encoded, without following redirects, within
 * `timeoutMs` for all attempts together.
 *
 * Retries a 429 until `timeoutMs`, and for GET and DELETE also a 5xx or a missing response
 * `maxRetries` times (specification, section 8). The pause before a retry is the response's
 * `Retry-After`, else random, and grows to 2 s. After a 401, it tries the other passwords.
 */
export class Transport {
  readonly #fetch: NonNullable<CheckedClientOptions["fetch"]>;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #authorizations: readonly string[];
  /** The index of the last one that the service accepted. */
  #accepted = 0;

  constructor(options: CheckedClientOptions, username: string) {
    // Looked up for each request: a test may replace the global function later.
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#maxRetries = options.maxRetries ?? 2;
    this.#authorizations = [options.password].flat().map((one) => {
      return `Basic ${Buffer.from(`${username}:${one}`).toString("base64")}`;
    });
  }

  /**
   * Returns the parsed response; undefined for one without a body.
   *
   * @throws ApiError; the reason of `signal`.
   */
  async send<Output>(request: ServiceRequest, schema: ResponseSchema<Output>): Promise<Output> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signals = [timeout, request.signal].filter((one) => one !== undefined);
    const signal = AbortSignal.any(signals);
    const startedMs = performance.now();
    for (let retry = 0; ; retry++) {
      try {
        return await this.#authorizeAndSend(request, schema, signal);
      } catch (cause) {
        const error = toApiError(request, timeout.aborted, cause);
        // The previous attempt deleted the resource and its response was lost.
        const isDeleted = retry > 0 && request.method === "DELETE" && error.status === 404;
        if (isDeleted) return undefined as Output;
        const { retryAfterSeconds } = error;
        const ownPauseMs = pauseAfter(retry + 1, PAUSES);
        const pauseMs = retryAfterSeconds === undefined ? ownPauseMs : retryAfterSeconds * 1_000;
        const isTooLate = performance.now() - startedMs + pauseMs > this.#timeoutMs;
        if (isTooLate || !this.#isRetried(request, error, retry)) throw error;
        await sleep(pauseMs, undefined, { signal: request.signal }).catch(() => {});
        request.signal?.throwIfAborted();
      }
    }
  }

  #isRetried(request: ServiceRequest, { code, status }: ApiError, retry: number): boolean {
    const { method, maxRetries = this.#maxRetries } = request;
    if (status === 429) return maxRetries > 0;
    const hasFailed = code === "UNREACHABLE" || status >= 500;
    return retry < maxRetries && hasFailed && method !== "POST";
  }

  async #authorizeAndSend<Output>(
    request: ServiceRequest,
    schema: ResponseSchema<Output>,
    signal: AbortSignal,
  ): Promise<Output> {
    const first = this.#accepted;
    const { length } = this.#authorizations;
    for (let turn = 0; ; turn++) {
      const index = (first + turn) % length;
      try {
        const authorization = this.#authorizations[index] ?? "";
        const output = await this.#attempt(request, schema, signal, authorization);
        this.#accepted = index;
        return output;
      } catch (error) {
        const isRejected = error instanceof ApiError && error.status === 401;
        if (!isRejected || turn === length - 1) throw error;
      }
    }
  }

  async #attempt<Output>(
    request: ServiceRequest,
    schema: ResponseSchema<Output>,
    signal: AbortSignal,
    authorization: string,
  ): Promise<Output> {
    const { method, url, form } = request;
    const headers: Record<string, string> = { authorization, accept: "application/json" };
    if (form !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
    const body = form === undefined ? null : encodeForm(form);
    // Not called as a method: the platform's fetch accepts no other `this`.
    const fetch = this.#fetch;
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    const { status } = response;
    const chunks = (response.body ?? []) as AsyncIterable<Uint8Array>;
    const bytes = await readLimited(chunks, MAX_RESPONSE_BYTES);
    if (bytes === undefined) {
      const cause = new Error(`The response is over ${MAX_RESPONSE_BYTES} bytes.`);
      throw createApiError(request, "BAD_RESPONSE", cause, status);
    }
    const json = parseJson(bytes.toString("utf8"));
    if (status >= 300 && status < 400) {
      throw createApiError(request, "REDIRECTED", undefined, status);
    }
    if (!response.ok) throw createServiceError(request, response, json);
    const result = schema.safeParse(json);
    if (!result.success) throw createApiError(request, "BAD_RESPONSE", undefined, status);
    request.onHeaders?.(response.headers);
    return result.data;
  }
}

function toApiError(request: ServiceRequest, isTimeout: boolean, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  request.signal?.throwIfAborted();
  return createApiError(
    request,
    isTimeout ? "TIMEOUT" : "UNREACHABLE",
    hideMessages(cause, request),
  );
}

/** The messages of an option `fetch` may quote the URL, which identifies a user. */
function hideMessages(cause: unknown, { shownPath }: FailedRequest): unknown {
  if (shownPath === undefined) return cause;
  const code = findErrorCode(cause);
  const shown = new Error(
    `${code ?? "fetch failed"} (the message is not shown: it may name a user)`,
  );
  return code === undefined ? shown : Object.assign(shown, { code });
}

/** A number, or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
}

function createServiceError(
  { method, url, shownPath }: FailedRequest,
  { status, headers }: ServiceResponse,
  json: unknown,
): ApiError {
  const { code, message, detail, title, more_info } = Object(json) as Record<string, unknown>;
  // A problem of RFC 9457 has `detail` and `title` instead of a message.
  const given = shownPath === undefined ? [message, detail, title].find(isString) : undefined;
  return new ApiError(given ?? `The service responded ${status} without a message.`, {
    method,
    path: shownPath ?? new URL(url).pathname,
    code: "SERVICE_ERROR",
    serviceCode: typeof code === "number" ? code : undefined,
    status,
    more_info: isString(more_info) ? more_info : undefined,
    retryAfterSeconds: readRetryAfter(headers.get("retry-after")),
  });
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
