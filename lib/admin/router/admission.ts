import type { Request } from "express";
import { RouterError } from "../http/router-error";
import { isAllowedHost, isCrossSite } from "./cross-site";
import type { OptionCalls } from "./option-calls";
import type { AdminRouterOptions } from "./options";

/** The person may not use the router. */
export const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");
const CROSS_SITE = new RouterError(
  403,
  "CROSS_SITE",
  "Browsers may write only from a page of the same origin, or of one in allowedOrigins. Behind a proxy, keep the Host header or set Express's trust proxy.",
);
const HOST_NOT_ALLOWED = new RouterError(
  403,
  "HOST_NOT_ALLOWED",
  "This host may not be used. List it in allowedHosts; or behind a proxy on the same machine set Express's trust proxy.",
);

const NOT_ADMITTED: ReadonlySet<unknown> = new Set(
  [FORBIDDEN, CROSS_SITE, HOST_NOT_ALLOWED].map(({ code }) => code),
);

/** Returns whether an error has this code because its request was not admitted. */
export function wasNotAdmitted(code: unknown): boolean {
  return NOT_ADMITTED.has(code);
}

/** Creates what decides who may use a router, and from where. Its functions throw a RouterError. */
export function createAdmission(
  options: AdminRouterOptions,
  calls: OptionCalls,
  isWrite: (req: Request) => boolean,
) {
  const allowedOrigins = new Set(options.allowedOrigins);

  function assertSameSite(req: Request): void {
    if (isCrossSite(req, allowedOrigins)) throw CROSS_SITE;
  }

  async function admit(req: Request): Promise<void> {
    if (!isAllowedHost(req, options.allowedHosts)) throw HOST_NOT_ALLOWED;
    const isAllowed: unknown = await calls.call("authorize", () => options.authorize(req));
    // Compare with true: a truthy value, such as a user object, may be a mistake.
    if (isAllowed !== true) throw FORBIDDEN;
    if (isWrite(req)) assertSameSite(req);
  }

  return { admit, assertSameSite };
}
