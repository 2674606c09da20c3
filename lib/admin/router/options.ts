import type { Request } from "express";
import type { Logger } from "../../kit/logger";
import { FUNCTION, HOSTNAMES, LOGGER } from "../../kit/option-rules";
import { hasMethods, oneOf, validateOptions, type OptionRules } from "../../kit/validate-options";
import type { ConsoleQueue } from "../console/queue-view";
import type { PushWebhooks } from "../../index";
import type { AdminClient } from "../client/client";
import type { AuditEntry } from "../http/audit";
import { RECEIVER_RULE } from "../rehearsal/rehearse";
import { isHttpOrigin } from "./cross-site";

/** Settings of the console. */
export interface ConsoleOptions {
  /**
   * Shows the identities of dead letters and waits in full, and the texts of devices and challenges.
   * @default false: identities are masked, and the texts are left out
   */
  reveal?: boolean | undefined;
}

/** Options of `adminRouter`; only `client` and `authorize` are required. */
export interface AdminRouterOptions {
  /** Serves the console, a page for people, at the mount of the router. @default false: JSON alone */
  console?: boolean | ConsoleOptions | undefined;
  /** The receiver that the console shows, and `POST /rehearsal` tries. @default none */
  receiver?: PushWebhooks | undefined;
  /** The queue that the console shows, and `/user-data` erases from. @default none */
  queue?: ConsoleQueue | undefined;
  /** The result of `createAdminClient`. */
  client: AdminClient;
  /**
   * Returns whether a request may use the router; called for each request. Only `true` allows it. An
   * error is logged and rejects the request.
   */
  authorize: (req: Request) => boolean | Promise<boolean>;
  /** Rejects every write with 405. @default false */
  readOnly?: boolean | undefined;
  /**
   * Origins of other staff front ends whose pages may write, such as `"https://staff.example.com"`. The
   * app itself must send the CORS headers and respond to preflight requests, for example with the
   * package `cors` before the router. @default none: only pages of the router's own origin
   */
  allowedOrigins?: readonly string[] | undefined;
  /**
   * Names under which browsers reach the router, without a port, such as `"staff.example.com"`. Others
   * get 403, except IP addresses and localhost, which a foreign page cannot choose (DNS rebinding).
   * @default all names, but only localhost over the loopback, or from the address of the server itself,
   * unless Express's `trust proxy` trusts it
   */
  allowedHosts?: readonly string[] | undefined;
  /**
   * Receives an entry, without secrets, for each request that writes (all methods except GET, HEAD and
   * OPTIONS), also a rejected one.
   */
  onAudit?: ((entry: AuditEntry, req: Request) => unknown) | undefined;
  /** Names the person or program that sent a request. @default its IP address */
  actor?: ((req: Request) => string | undefined) | undefined;
  /** Logger of failures. @default none */
  logger?: Logger | undefined;
}

/** What {@link AdminRouterOptions} accept. */
export const ROUTER_RULES: OptionRules<AdminRouterOptions> = {
  console: {
    accepts: (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
    expected: "true, false or an object of options, such as { reveal: true }",
  },
  receiver: RECEIVER_RULE,
  queue: {
    accepts: (value) =>
      hasMethods(value, ["stats", "find", "deadGroups", "retry", "discard", "eraseUserData"]),
    expected: 'a queue of "express-push-verification/durable"',
    secret: true,
  },
  client: {
    accepts: (value) =>
      hasMethods((value as Partial<AdminClient> | null)?.keys, ["list", "create"]),
    expected: "the result of createAdminClient()",
    required: true,
    secret: true,
  },
  authorize: {
    ...FUNCTION,
    expected:
      "a function that returns whether a request may manage Keys and Webhooks, such as (req) => req.user?.isAdmin === true",
    required: true,
  },
  readOnly: oneOf(true, false),
  allowedOrigins: {
    accepts: (value) => Array.isArray(value) && value.every(isHttpOrigin),
    expected:
      'a list of origins as browsers send them: scheme, host and port without path, such as ["https://staff.example.com"]',
  },
  allowedHosts: HOSTNAMES,
  onAudit: FUNCTION,
  actor: FUNCTION,
  logger: LOGGER,
};

/**
 * Returns the options of the console; undefined when there is none.
 *
 * @throws TypeError for an option that is unknown.
 */
export function resolveConsoleOptions(options: AdminRouterOptions): ConsoleOptions | undefined {
  const { console: chosen = false } = options;
  if (chosen === false) return undefined;
  const settings = chosen === true ? {} : chosen;
  validateOptions("adminRouter console", settings, { reveal: oneOf(true, false) });
  return settings;
}
