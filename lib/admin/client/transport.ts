import { setTimeout as sleep } from "node:timers/promises";
import { encodeForm } from "../../form/text";
import type { Pair } from "../../form/form";
import { ApiError, createApiError, type FailedRequest } from "./api-error";
import type { AdminClientOptions } from "./options";
import { parseResponse, readResponse } from "./service-response";
import type { ResponseSchema, ServiceResponse } from "./service-response";

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

/** Sends a request and returns the parsed response; undefined for a response without a body. */
export type Transport = ReturnType<typeof createTransport>;

const FIRST_PAUSE_MS = 200;

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
