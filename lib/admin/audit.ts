/** The name of a write. */
export type AuditAction = `${"key" | "webhook"}.${"create" | "update" | "delete"}`;

/** One attempt to write, done or rejected. */
export interface AuditEntry {
  /** The write; undefined when the router has no route of that method and path. */
  readonly action: AuditAction | undefined;
  /** The person or program that sent the request, as the option `actor` says. */
  readonly actor: string | undefined;
  /**
   * The SID of the Key or Webhook: SK or YW and 32 hexadecimal digits (specification, section 2).
   * Undefined when the path has none, a malformed one, or nothing was created.
   */
  readonly sid: string | undefined;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The code of the problem; undefined when the write was done. */
  readonly code: number | string | undefined;
}

// Of Express's router: letter case and a slash at the end do not matter.
const PATH = /^\/(key|webhook)s(?:\/([^/]+))?\/?$/i;

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns what a request would write; undefined for one that only reads (GET, HEAD and OPTIONS).
 *
 * @param method the effective one, after any middleware that overrides it; in any letter case.
 * @param path within the router, without the query.
 */
export function describeWrite(
  method: string,
  path: string,
): Pick<AuditEntry, "action" | "sid"> | undefined {
  const verb = method.toUpperCase();
  if (SAFE_METHODS.has(verb)) return undefined;
  const [, resource = "", segment] = PATH.exec(path) ?? [];
  const change = segment === undefined ? findListChange(verb) : findItemChange(verb);
  const isRoute = resource !== "" && change !== undefined;
  return {
    action: isRoute ? (`${resource.toLowerCase()}.${change}` as AuditAction) : undefined,
    sid: readSid(segment),
  };
}

function findListChange(verb: string): "create" | undefined {
  return verb === "POST" ? "create" : undefined;
}

function findItemChange(verb: string): "update" | "delete" | undefined {
  if (verb === "DELETE") return "delete";
  return verb === "POST" || verb === "PATCH" ? "update" : undefined;
}

function readSid(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    const sid = decodeURIComponent(segment);
    // Only a SID: anything else is text of the client, such as control characters for a terminal.
    return /^(?:SK|YW)[0-9a-fA-F]{32}$/.test(sid) ? sid : undefined;
  } catch {
    // Express responds 404 to malformed percent-encoding.
    return undefined;
  }
}
