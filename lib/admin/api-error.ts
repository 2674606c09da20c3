/** What went wrong without the service having said so. */
export type ApiFailure =
  "UNREACHABLE" | "TIMEOUT" | "BAD_RESPONSE" | "REDIRECTED" | "FOREIGN_PAGE" | "OWN_KEY";

/** What an {@link ApiError} is made of. */
export interface ApiErrorFields {
  /** The service's own number (20404, say), one of {@link ApiFailure}, or nothing. */
  code: number | ApiFailure | undefined;
  /** The HTTP status of the answer; 0 when there was none. */
  status: number;
  more_info?: string | undefined;
  method: string;
  /** Path of the request, without its query. */
  path: string;
  /** What the answer's `Retry-After` said, in seconds. */
  retryAfterSeconds?: number | undefined;
}

/**
 * A request to the service that failed (specification, section 7). It holds no credentials and
 * nothing of what was sent.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number | ApiFailure | undefined;
  readonly status: number;
  readonly more_info: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, fields: ApiErrorFields, options?: { cause?: unknown }) {
    super(message, options);
    this.code = fields.code;
    this.status = fields.status;
    this.more_info = fields.more_info;
    this.method = fields.method;
    this.path = fields.path;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}
