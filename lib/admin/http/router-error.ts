import { WebhookError } from "../../index";
import { SID_DIGITS } from "../../kit/sid";
import { ApiError, FAILURE_MESSAGES } from "../client/api-error";
import { InputError } from "../client/input-error";

/** An error that the router responds with: its code is a number of the service, or a name. */
export class RouterError extends Error {
  override readonly name = "RouterError";

  constructor(
    readonly status: number,
    readonly code: number | string,
    message: string,
    /** Value of the header `Retry-After`. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** The router responds with these statuses of the service, too. */
const PASSED_ON = new Set([400, 404, 409, 429]);

/**
 * Converts an error. A 401 or 403 of the service becomes a 502: the user's own login did not fail.
 * Hides the address of the service and the SID of the account.
 */
export function toRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  if (error instanceof InputError) return new RouterError(400, error.code, error.message);
  if (error instanceof WebhookError) {
    const message = "The store of the queue does not respond. The reason is in the log of the app.";
    return new RouterError(503, "STORE_UNAVAILABLE", message);
  }
  if (!(error instanceof ApiError)) {
    return new RouterError(500, "INTERNAL", "The router failed. The reason is in its log.");
  }
  const { code, serviceCode, message, status, retryAfterSeconds } = error;
  if (code === "OWN_KEY") return new RouterError(status, code, message);
  if (code === "MAIN_KEY_REQUIRED") return new RouterError(403, code, message);
  if (code !== "SERVICE_ERROR") {
    const shown = FAILURE_MESSAGES[code];
    return new RouterError(code === "TIMEOUT" ? 504 : 502, `UPSTREAM_${code}`, shown);
  }
  if (PASSED_ON.has(status)) {
    const shownCode = serviceCode ?? `UPSTREAM_${status}`;
    return new RouterError(status, shownCode, hideUpstream(message), retryAfterSeconds);
  }
  if (status === 401 || status === 403) {
    const rejected = "The service rejected the credentials of the client.";
    return new RouterError(502, "UPSTREAM_UNAUTHORIZED", rejected);
  }
  return new RouterError(502, "UPSTREAM_FAILED", `The service responded ${status}.`);
}

function hideUpstream(message: string): string {
  return message
    .replace(/ ?(?:https?:\/\/|\/)\S*/gi, "")
    .replace(new RegExp(`AC${SID_DIGITS}`, "gi"), "the account")
    .replace(/Basic\s+[\w+/=-]+/gi, "(credentials)");
}
