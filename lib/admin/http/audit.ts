import { decodeSafely } from "../../form/text";
import { isSid } from "../../form/sid";

/** Name of a write. */
export type AuditAction =
  | `${"key" | "webhook"}.${"create" | "update" | "delete"}`
  | "dead-letter.retry"
  | "dead-letter.discard"
  | "request.resend"
  | "test-event.send";

/** Audit entry of one request that writes, successful or rejected. */
export interface AuditEntry {
  /** The write; undefined when the router has no route of that method and path. */
  readonly action: AuditAction | undefined;
  /** Person or program that sent the request: the result of the option `actor`. */
  readonly actor: string | undefined;
  /**
   * The SID of the Key or Webhook: SK or YW and 32 hexadecimal digits (specification, section 2).
   * Undefined when the path has none, a malformed one, or nothing was created.
   */
  readonly sid: string | undefined;
  /** The uuid of the dead letter, of the test event or of the event that was sent again; undefined when there are several or none. */
  readonly uuid?: string | undefined;
  /** HTTP status of the response. */
  readonly status: number;
  /** Code of the error; undefined after a successful write. */
  readonly code: number | string | undefined;
}

const CONSOLE_ACTIONS: ReadonlyMap<string, AuditAction> = new Map([
  ["/console/dead-letters/retry", "dead-letter.retry"],
  ["/console/dead-letters/discard", "dead-letter.discard"],
  ["/console/resend", "request.resend"],
  ["/console/test-event", "test-event.send"],
]);

// Express's router ignores letter case and a trailing slash.
const PATH = /^\/(key|webhook)s(?:\/([^/]+))?\/?$/i;

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Describes the write of a request; undefined for GET, HEAD and OPTIONS, which only read.
 *
 * @param method the effective method, after any middleware that overrides it; in any letter case.
 * @param path within the router, without the query.
 */
export function describeWrite(
  method: string,
  path: string,
): Pick<AuditEntry, "action" | "sid"> | undefined {
  const verb = method.toUpperCase();
  if (SAFE_METHODS.has(verb)) return undefined;
  const consoleAction = CONSOLE_ACTIONS.get(path.toLowerCase().replace(/\/$/, ""));
  if (consoleAction !== undefined) {
    return { action: verb === "POST" ? consoleAction : undefined, sid: undefined };
  }
  const [, resource = "", segment] = PATH.exec(path) ?? [];
  const change = findChange(verb, segment);
  const sid = decodeSafely(segment ?? "");
  const isRoute = resource !== "" && change !== undefined;
  return {
    action: isRoute ? (`${resource.toLowerCase()}.${change}` as AuditAction) : undefined,
    // Log only SIDs: any other text of a client may hold control characters for a terminal.
    sid: isSid("SK", sid) || isSid("YW", sid) ? sid : undefined,
  };
}

/** Returns the change that a method makes to an item; to the list, without a segment. */
function findChange(verb: string, segment: string | undefined) {
  if (segment === undefined) return verb === "POST" ? "create" : undefined;
  if (verb === "DELETE") return "delete";
  return verb === "POST" || verb === "PATCH" ? "update" : undefined;
}
