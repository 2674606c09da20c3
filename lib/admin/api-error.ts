import { brand } from "../brand";

/**
 * What went wrong where the service itself did not respond with an error.
 *
 * - `UNREACHABLE`: no connection, or it was closed before the response; `cause` has the reason.
 * - `TIMEOUT`: no response within `timeoutMs`.
 * - `BAD_RESPONSE`: the response is not what the specification says.
 * - `REDIRECTED`: the response is a redirect, which is not followed.
 * - `FOREIGN_PAGE`: a list links to a page of another origin, which is not requested.
 * - `OWN_KEY`: the Key to delete is the one that the client authenticates with; nothing was sent.
 */
export type ApiFailure =
  "UNREACHABLE" | "TIMEOUT" | "BAD_RESPONSE" | "REDIRECTED" | "FOREIGN_PAGE" | "OWN_KEY";

/** The code of an {@link ApiError}; `SERVICE_ERROR` when the service responded with an error. */
export type ApiErrorCode = "SERVICE_ERROR" | ApiFailure;

/** Fields that an {@link ApiError} is made with. */
export interface ApiErrorFields {
  readonly code: ApiErrorCode;
  /** The service's own number of the error, such as 20404 (specification, section 7). */
  readonly serviceCode?: number | undefined;
  /** The HTTP status of the response; 0 when there was none. */
  readonly status: number;
  /** Where the service documents the error. */
  readonly more_info?: string | undefined;
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
  /** The `Retry-After` of the response, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * A request to the service that failed (specification, section 7). It holds no credentials and
 * nothing of what was sent.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class ApiError extends Error {
  declare readonly name: "ApiError";
  /** What went wrong; `switch` over it. */
  readonly code: ApiErrorCode;
  /** The service's own number, such as 20404; undefined when its response had none. */
  readonly serviceCode: number | undefined;
  /** The HTTP status of the response; 0 when there was none. */
  readonly status: number;
  /** Where the service documents the error. */
  readonly more_info: string | undefined;
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
  /** The `Retry-After` of the response, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  static {
    brand(this, "ApiError");
  }

  constructor(message: string, fields: ApiErrorFields, options?: { cause?: unknown }) {
    super(message, options);
    this.code = fields.code;
    this.serviceCode = fields.serviceCode;
    this.status = fields.status;
    this.more_info = fields.more_info;
    this.method = fields.method;
    this.path = fields.path;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }

  /** Returns what `JSON.stringify` writes: never the cause. */
  toJSON(): Pick<ApiError, "name" | "code" | "serviceCode" | "status" | "message"> {
    const { name, code, serviceCode, status, message } = this;
    return { name, code, serviceCode, status, message };
  }
}
