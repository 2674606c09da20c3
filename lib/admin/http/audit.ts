import { decodeSafely } from "../../kit/text";
import { isSid } from "../../kit/sid";

/** The name of a write. */
export type AuditAction =
  | `${"key" | "webhook"}.${"create" | "update" | "delete"}`
  | "dead-letter.retry"
  | "dead-letter.discard"
  | "rehearsal.run"
  | "request.resend"
  | "user-data.erase";

/** The audit entry of a request that writes, successful or rejected. */
export interface AuditEntry {
  /** The write; undefined if the router has no such route. */
  readonly action: AuditAction | undefined;
  /** The result of the option `actor`: who sent the request. */
  readonly actor: string | undefined;
  /** The Key or Webhook: SK or YW and 32 hexadecimal digits (section 2); undefined without such a SID. */
  readonly sid: string | undefined;
  /** The only dead letter, or event that was run again. */
  readonly uuid?: string | undefined;
  /** The error whose dead letters were chosen, without values of the events. */
  readonly error?: string | undefined;
  /** How many events were changed, also when the rest failed, or erased. No entry names their user. */
  readonly count?: number | undefined;
  /** The earlier values of what a `webhook.update` changed, without user info of a URL. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** The HTTP status of the response. */
  readonly status: number;
  /**
   * The code of the error; undefined after a successful write. Of an event that was run again, why its
   * handlers failed; `REHEARSAL_FAILED`; `STOPPED` by the person.
   */
  readonly code: number | string | undefined;
}

/** Fields of an audit entry that a route sets while it runs. */
export type Audited = {
  -readonly [Name in "uuid" | "error" | "count" | "before" | "code"]?: AuditEntry[Name];
};

const SAFE_METHODS: ReadonlySet<string> = new Set(["get", "head", "options"]);

/** Creates the function that describes the write of a request; undefined for one that only reads. */
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
      // Any other text of a client may hold control characters for a terminal.
      sid: isSid("SK", sid) || isSid("YW", sid) ? sid : undefined,
    };
  };
}
