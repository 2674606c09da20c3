import { isNativeError } from "node:util/types";
import { brand } from "../../kit/brand";

/** The messages of the failures that are no error response of the service. */
export const FAILURE_MESSAGES = {
  UNREACHABLE: "The service could not be reached.",
  TIMEOUT: "The service did not respond within timeoutMs.",
  BAD_RESPONSE: "The response does not match the specification. Check the base URL of the service.",
  REDIRECTED:
    "The service responded with a redirect, which is not followed. Check the base URL of the service.",
  FOREIGN_PAGE: "The service linked to a page of another origin, which is not requested.",
  OWN_KEY:
    "The client authenticates with this Key. Delete it with force, or with other credentials.",
  MAIN_KEY_REQUIRED:
    "Only the account itself or a Main key may manage Keys. Give the client the account's SID and auth token, or a Main key.",
};

/** The code of a failure that is no error response. */
export type ApiFailure = keyof typeof FAILURE_MESSAGES;

/** The kind of an {@link ApiError}; `SERVICE_ERROR`: the service responded with an error. */
export type ApiErrorCode = "SERVICE_ERROR" | ApiFailure;

/** Fields of a new {@link ApiError}, which describes them. */
export type ApiErrorFields = Pick<ApiError, "code" | "status" | "method" | "path"> &
  Partial<Pick<ApiError, "serviceCode" | "more_info" | "retryAfterSeconds">>;

/**
 * Failed request to the service (specification, section 7). Holds no credentials and no parameters
 * of the request. `instanceof` also recognises the errors of another installed copy of this package.
 */
export class ApiError extends Error {
  declare readonly name: "ApiError";
  /** The kind of failure; `cause` has the reason of `UNREACHABLE`. */
  readonly code!: ApiErrorCode;
  /** Number of the error at the service, such as 20404 (section 7); undefined when it sent none. */
  readonly serviceCode: number | undefined;
  /** The HTTP status of the response; 0 when there was none. */
  readonly status!: number;
  /** URL of the error in the service's documentation. */
  readonly more_info: string | undefined;
  readonly method!: string;
  /** Path of the request, without its query. */
  readonly path!: string;
  /** The `Retry-After` of the response, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  static {
    brand(this, "ApiError");
  }

  constructor(message: string, fields: ApiErrorFields, options?: { cause?: unknown }) {
    super(message, options);
    Object.assign(this, fields);
  }

  /** Returns the fields that `JSON.stringify` writes; omits the cause. */
  toJSON(): Pick<ApiError, "name" | "code" | "serviceCode" | "status" | "message"> {
    const { name, code, serviceCode, status, message } = this;
    return { name, code, serviceCode, status, message };
  }
}

/** The request of an {@link ApiError}. */
export interface FailedRequest {
  method: string;
  url: string;
  /** In place of the path and the message of the service, if the URL identifies a user. */
  shownPath?: string;
}

/** Creates the error of a failure; the message of one without a response has the host of the service. */
export function createApiError(
  { method, url, shownPath = new URL(url).pathname }: FailedRequest,
  code: ApiFailure,
  cause?: unknown,
  status = 0,
): ApiError {
  const fields = { method, path: shownPath, code, status };
  let message = FAILURE_MESSAGES[code];
  if (code === "UNREACHABLE" || code === "TIMEOUT") {
    message = message.replace("The service", `The service at ${new URL(url).host}`);
  }
  // The code alone: the message of an option `fetch` may have anything, such as a header.
  const reason = code === "UNREACHABLE" ? findErrorCode(cause) : undefined;
  if (reason !== undefined) message = message.replace(/\.$/, `: ${reason}.`);
  return new ApiError(message, fields, cause === undefined ? undefined : { cause });
}

/** Finds the code of an error or of its causes, such as `ECONNREFUSED`; at most 10, as they may form a circle. */
export function findErrorCode(error: unknown, depth = 10): string | undefined {
  if (depth === 0 || !isNativeError(error)) return undefined;
  const { code, cause } = error as NodeJS.ErrnoException;
  const isCode = typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code);
  return isCode ? code : findErrorCode(cause, depth - 1);
}
