import { ApiError, createApiError, type FailedRequest } from "./api-error";
import { parseJson } from "../../form/text";

/** Response of the service before it is parsed. */
export interface ServiceResponse {
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

const MAX_RESPONSE_BYTES = 8_388_608;

/**
 * Reads a response of `fetch` to its end. Throws ApiError `BAD_RESPONSE` for a body over 8 MiB, which
 * is larger than any page of the service.
 */
export async function readResponse(
  request: FailedRequest,
  response: Response,
): Promise<ServiceResponse> {
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
export function parseResponse<Output>(
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
