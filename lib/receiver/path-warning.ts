import { shortenPath } from "./received-request";

/**
 * Creates the check that finds a receiver that was mounted without a path: `app.use(push)` passes
 * it each request of the app, and it rejects those of other routes. The first rejected request
 * whose path is neither that of a publicUrl nor below it emits the process warning
 * `MOUNTED_WITHOUT_PATH`; not under a mount path, because a proxy may rewrite paths.
 */
export function createWarnOfPath(publicUrls: readonly string[]) {
  const paths = publicUrls.map((url) => new URL(url).pathname);
  let hasWarned = false;

  return function warnOfPath(target: string, isMounted: boolean): void {
    if (hasWarned) return;
    if (isMounted || !target.startsWith("/") || paths.some((path) => isAtOrBelow(target, path))) {
      return;
    }
    hasWarned = true;
    const path = shortenPath(new URL(publicUrls[0] ?? "").pathname);
    process.emitWarning(
      `The receiver rejected a request for ${shortenPath(target)}, but the path of publicUrl is ${path}. If it is mounted without a path, mount it under this one: app.use(${JSON.stringify(path)}, push). If a proxy rewrites paths, mount it under the rewritten path. (Said once.)`,
      { type: "PushWebhooksWarning", code: "MOUNTED_WITHOUT_PATH" },
    );
  };
}

function isAtOrBelow(target: string, path: string): boolean {
  if (!target.startsWith(path)) return false;
  return path.endsWith("/") || ["", "/", "?"].includes(target.charAt(path.length));
}
