import { SID_DIGITS } from "../../form/sid";
import { ApiError } from "../client/api-error";
import { InputError } from "../client/input-error";

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

/** Response of the router to a request that failed. */
export interface ErrorResponse {
  /** Number of the error at the service, or a name of the router. */
  code: number | string;
  message: string;
  status: number;
  /** Value of the header `Retry-After`, in seconds. */
  retryAfterSeconds?: number | undefined;
}

/** Statuses of the service that the router responds with, too. */
const PASSED_ON = new Set([400, 404, 409, 429]);

/**
 * Converts an error to the response of the router. A 401 or 403 of the service becomes a 502: the
 * user's own login did not fail. Hides the address of the service and the SID of the account.
 */
export function toErrorResponse(error: unknown): ErrorResponse {
  if (error instanceof RouterError) return error;
  if (error instanceof InputError) {
    return { code: error.code, message: error.message, status: 400 };
  }
  if (error instanceof ApiError) return convertApiError(error);
  return { code: "INTERNAL", message: "The router failed. The reason is in its log.", status: 500 };
}

function convertApiError(error: ApiError): ErrorResponse {
  const { code, serviceCode, message, status, retryAfterSeconds } = error;
  if (code === "OWN_KEY") return { code, message, status };
  if (code !== "SERVICE_ERROR") {
    return { code: `UPSTREAM_${code}`, message, status: code === "TIMEOUT" ? 504 : 502 };
  }
  if (PASSED_ON.has(status)) {
    const shown = hideUpstream(message);
    return { code: serviceCode ?? `UPSTREAM_${status}`, message: shown, status, retryAfterSeconds };
  }
  if (status === 401 || status === 403) {
    return {
      code: "UPSTREAM_UNAUTHORIZED",
      message: "The service rejected the credentials of the client.",
      status: 502,
    };
  }
  return { code: "UPSTREAM_FAILED", message: `The service responded ${status}.`, status: 502 };
}

/** Removes URLs, paths, the account SID and credentials from a message of the service. */
function hideUpstream(message: string): string {
  return message
    .replace(/ ?(?:https?:\/\/|\/)\S*/gi, "")
    .replace(new RegExp(`AC${SID_DIGITS}`, "gi"), "the account")
    .replace(/Basic\s+[\w+/=-]+/gi, "(credentials)");
}
