import type { PushWebhooksSettings } from "./options";
import { isMemoryDedupe } from "../delivery/memory-dedupe";
import { warnOnce } from "../../kit/process-warning";
import { shortenPath } from "./incoming-request";

/**
 * Creates the check that finds a receiver without a path: `app.use(push)` passes it each request of
 * the app. The first rejected request whose path is neither the path of a publicUrl nor below it emits
 * `MOUNTED_WITHOUT_PATH`; not when the receiver is known to have a path, and not after a request with
 * such a path was accepted: a proxy or a framework rewrites paths.
 */
export function createWarnOfPath(publicUrls: readonly string[]) {
  const paths = publicUrls.map((url) => new URL(url).pathname);
  let areRewritten = false;

  return function warnOfPath(target: string, isMounted: boolean, isAccepted: boolean): void {
    if (areRewritten || isMounted || !target.startsWith("/")) return;
    if (paths.some((path) => isAtOrBelow(target, path))) return;
    areRewritten = isAccepted;
    if (isAccepted) return;
    const path = shortenPath(paths[0] ?? "");
    const message = `The receiver rejected a request for ${shortenPath(target)}, but the path of publicUrl is ${path}. If it is mounted without a path, mount it under this one: app.use(${JSON.stringify(path)}, push). If a proxy rewrites paths, mount it under the rewritten path. (Said once.)`;
    warnOnce("MOUNTED_WITHOUT_PATH", message, paths);
  };
}

function isAtOrBelow(target: string, path: string): boolean {
  if (!target.startsWith(path)) return false;
  return path.endsWith("/") || ["", "/", "?"].includes(target.charAt(path.length));
}

/** Emits the process warning `DEADLINE_LATE`, once, for a deadline after the 15 s of the service. */
export function warnOfDeadline({ deadlineMs }: PushWebhooksSettings): void {
  if (deadlineMs <= 15_000) return;
  warnOnce(
    "DEADLINE_LATE",
    `deadlineMs is ${deadlineMs}: the service gives up after 15 s and delivers the event again while its handlers still run. Use at most 14_000, and acknowledge: "before" or a queue for longer work.`,
  );
}

/** Emits `GET_UNCONFIRMED`, once for a receiver: an attacker may have other products sign URLs. */
export function warnOfGet(settings: PushWebhooksSettings): void {
  const { methods, confirm } = settings;
  if (!methods.includes("GET") || confirm !== undefined) return;
  const message =
    "The receiver accepts GET and has no option confirm. An attacker who can make the service call a URL by GET can send events. Set confirm, or use POST for the Webhook and remove GET from methods.";
  warnOnce("GET_UNCONFIRMED", message, settings);
}

/**
 * Emits `WAIT_UNCONFIRMED`, once for a receiver, in production: a restart forgets uuids in memory,
 * and an approval that is sent again then completes a login.
 */
export function warnOfWait(settings: PushWebhooksSettings): void {
  const { confirm, queue, dedupe } = settings;
  const areUuidsShared = queue !== undefined || (dedupe !== false && !isMemoryDedupe(dedupe));
  if (confirm !== undefined || areUuidsShared || process.env.NODE_ENV !== "production") return;
  const message =
    "waitForChallenge is used, the uuids of events are kept in the memory of this process, and there is no option confirm. After a restart, an approval that is sent again completes a login. Set confirm, or share uuids with the option dedupe or queue.";
  warnOnce("WAIT_UNCONFIRMED", message, settings);
}
