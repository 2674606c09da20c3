import { readLimited } from "../../kit/local-server";
import type { Problem } from "./report";

const TIMEOUT_MS = 5_000;
/** No response of a receiver is longer. */
const MAX_BYTES = 1_024;
const LINE_BREAK = 10;

/**
 * Sends an unsigned request to a publicUrl, to find out why no webhook request arrived.
 *
 * @param hasArrived whether the request reached the receiver of this process.
 */
export async function probeUrl(publicUrl: string, hasArrived: () => boolean): Promise<Problem> {
  const url = new URL(publicUrl);
  [url.username, url.password] = ["", ""];
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
    const bytes = await readLimited(body, MAX_BYTES);
    if (hasArrived()) {
      return {
        reason:
          "A request from this process to publicUrl arrived here, but none of the service did.",
        fix: "Let a firewall, a login and an allow-list in front of the app pass the requests of the service.",
      };
    }
    // The receiver responds so; nothing else ends its text with a line break.
    const isReceiver =
      response.headers.get("cache-control") === "no-store" && bytes?.at(-1) === LINE_BREAK;
    if (isReceiver) {
      return {
        reason: "publicUrl leads to another process, whose requests this process does not see.",
        fix: "Without a queue, a login must wait in the process that gets its event: use a queue.",
      };
    }
    return {
      reason: `publicUrl responded ${response.status}, and not this receiver: a proxy or another part of the app.`,
      fix: "Mount the receiver at publicUrl before other parts, and let the proxy pass its requests on.",
    };
  } catch (error) {
    return {
      reason: `publicUrl could not be reached from this process: ${nameFailure(error)}.`,
      fix: "Check DNS, TLS, the port and the proxy of publicUrl.",
    };
  }
}

/** Names a failure by its code: a message may hold more than the report should show. */
export function nameFailure(error: unknown): string {
  const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
  if (name === "TimeoutError") return `no response within ${TIMEOUT_MS / 1_000} s`;
  return typeof cause?.code === "string" ? cause.code : "the connection failed";
}
