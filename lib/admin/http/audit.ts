import { decodeSafely } from "../../kit/text";
import { isSid } from "../../kit/sid";

/** Name of a write. */
export type AuditAction =
  | `${"key" | "webhook"}.${"create" | "update" | "delete"}`
  | "dead-letter.retry"
  | "dead-letter.discard"
  | "rehearsal.run"
  | "request.resend"
  | "test-event.send"
  | "user-data.erase";

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
  /** The error whose dead letters were chosen, without values of the events. */
  readonly error?: string | undefined;
  /**
   * How many dead letters were changed, also when the rest failed; of a successful
   * `user-data.erase`, how many events, dead letters and outcomes were erased. No entry names their user.
   */
  readonly count?: number | undefined;
  /** HTTP status of the response. */
  readonly status: number;
  /**
   * Code of the error; undefined after a successful write. Of an event that was sent again, why its
   * handlers did not succeed; of a test event, its failure, or the status if it is not 200; of a
   * rehearsal of which a link failed, `REHEARSAL_FAILED`.
   */
  readonly code: number | string | undefined;
}

/** Fields of an audit entry that a route sets while it runs. */
export type Audited = {
  -readonly [Name in "uuid" | "error" | "count" | "code"]?: AuditEntry[Name];
};

const SAFE_METHODS: ReadonlySet<string> = new Set(["get", "head", "options"]);

/**
 * Creates the function that describes the write of a request to one of these routes; undefined for
 * GET, HEAD and OPTIONS, and for a route without an action, which only read.
 */
export function createAudit(
  routes: readonly { method: string; path: string; action?: AuditAction | undefined }[],
) {
  const patterns = routes.map(({ method, path, action }) => {
    const source = path.replace(/:\w+/, "([^/]+)");
    // Express's router ignores letter case and a trailing slash.
    return { method, action, pattern: new RegExp(`^${source}/?$`, "i") };
  });

  return function describeWrite(
    method: string,
    path: string,
  ): Pick<AuditEntry, "action" | "sid"> | undefined {
    const verb = method.toLowerCase();
    if (SAFE_METHODS.has(verb)) return undefined;
    const matching = patterns.filter(({ pattern }) => pattern.test(path));
    const own = matching.find((route) => route.method === verb);
    if (own !== undefined && own.action === undefined) return undefined;
    const sid = decodeSafely(matching[0]?.pattern.exec(path)?.[1] ?? "");
    return {
      action: own?.action,
      // Log only SIDs: any other text of a client may hold control characters for a terminal.
      sid: isSid("SK", sid) || isSid("YW", sid) ? sid : undefined,
    };
  };
}
