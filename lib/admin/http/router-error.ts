/** Error that the router itself responds with. */
export class RouterError extends Error {
  override readonly name = "RouterError";
  readonly status: number;
  readonly code: string;
  /** Value of the header `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Rejection of a request that `authorize` did not allow. */
export const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");

/** Rejection of a write that a browser sent for a page of another origin. */
export const CROSS_SITE = new RouterError(
  403,
  "CROSS_SITE",
  "Browsers may write only from a page of the same origin, or of one in allowedOrigins. Behind a proxy, keep the Host header or set Express's trust proxy.",
);

/** Rejection of a client whose Key may not manage Keys (specification, section 5). */
export const MAIN_KEY_REQUIRED = new RouterError(
  403,
  "MAIN_KEY_REQUIRED",
  "Only the account itself or a Main key may manage Keys. Give the client the account's SID and auth token, or a Main key.",
);
