import { ApiError, type ApiFailure } from "./api-error";
import { InputError } from "./input-error";

/** What the router answers when it does not do what was asked. */
export interface Problem {
  /** The service's own number, or a name of the router's. */
  code: number | string;
  message: string;
  status: number;
  /** For the header `Retry-After`, in seconds. */
  retryAfterSeconds?: number | undefined;
}

/** A problem of the router's own, thrown by its steps. */
export class RouterError extends Error {
  override readonly name = "RouterError";
  readonly problem: Problem;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.problem = { code, message, status };
  }
}

/** The rejection of a request that `authorize` did not allow. */
export const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");

/** The rejection of a write that a browser sent for a page of another origin. */
export const CROSS_SITE = new RouterError(
  403,
  "CROSS_SITE",
  "Browsers may write only from a page of the same origin. Behind a proxy, keep the Host header or set Express's trust proxy.",
);

/** The refusal of a Key that may not manage Keys (specification, section 5). */
export const MAIN_KEY_REQUIRED: Problem = {
  code: "MAIN_KEY_REQUIRED",
  message:
    "The service lets only the account itself, or a Main key, manage Keys. Give the client the account's SID and auth token, or a Main key.",
  status: 403,
};

const UPSTREAM: Record<Exclude<ApiFailure, "OWN_KEY">, Omit<Problem, "message">> = {
  UNREACHABLE: { code: "UPSTREAM_UNREACHABLE", status: 502 },
  TIMEOUT: { code: "UPSTREAM_TIMEOUT", status: 504 },
  BAD_RESPONSE: { code: "UPSTREAM_BAD_RESPONSE", status: 502 },
  REDIRECTED: { code: "UPSTREAM_REDIRECTED", status: 502 },
  FOREIGN_PAGE: { code: "UPSTREAM_FOREIGN_PAGE", status: 502 },
};

const PASSED_ON = new Set([400, 404, 409, 429]);

/**
 * Says what an error means to the client of the router: never that their own login failed when it
 * was the client's, and nothing of where the service is.
 */
export function describeProblem(error: unknown): Problem {
  if (error instanceof RouterError) return error.problem;
  if (error instanceof InputError) {
    return { code: error.code, message: error.message, status: 400 };
  }
  if (error instanceof ApiError) return describeApiError(error);
  return { code: "INTERNAL", message: "The router failed; its log says why.", status: 500 };
}

function describeApiError(error: ApiError): Problem {
  const { code, serviceCode, status, retryAfterSeconds } = error;
  if (code === "OWN_KEY") return { code, message: error.message, status };
  if (code !== "SERVICE_ERROR") return { ...UPSTREAM[code], message: error.message };
  if (PASSED_ON.has(status)) {
    const message = hideUpstream(error.message);
    return { code: serviceCode ?? `UPSTREAM_${status}`, message, status, retryAfterSeconds };
  }
  if (status === 401 || status === 403) {
    return {
      code: "UPSTREAM_UNAUTHORIZED",
      message: "The service refuses the credentials of the client.",
      status: 502,
    };
  }
  return { code: "UPSTREAM_FAILED", message: `The service answered ${status}.`, status: 502 };
}

/** An upstream message names its own path, which holds the account SID. */
function hideUpstream(message: string): string {
  return message
    .replace(/ ?(?:https?:\/\/|\/)\S*/gi, "")
    .replace(/AC[0-9a-f]{32}/gi, "the account")
    .replace(/Basic\s+[\w+/=-]+/gi, "(credentials)");
}
