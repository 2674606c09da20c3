import { setTimeout as sleep } from "node:timers/promises";
import { SendError, sendRequest, type WebhookRequest } from "../emulator";
import type { Terminal } from "./terminal";

const TIMEOUT_MS = 15_000;
const RETRY_FOR_MS = 2_000;
const PAUSE_MS = 100;

/**
 * Creates the function that sends a webhook request to an app that may still be starting: while its
 * port refuses connections, it tries again for 2 s, and says so on stderr once. It resolves with the
 * status and the duration of the attempt that succeeded, and rejects as `sendRequest` does.
 */
export function createLateSend({ stderr, signal }: Terminal, request: WebhookRequest) {
  const options = { connectTimeoutMs: TIMEOUT_MS, timeoutMs: TIMEOUT_MS, signal };
  let hasSaid = false;

  return async function send() {
    const deadlineMs = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const startMs = performance.now();
      try {
        const { status } = await sendRequest(request, options);
        return { status, durationMs: performance.now() - startMs };
      } catch (error) {
        const isRefused = error instanceof SendError && error.code === "ECONNREFUSED";
        if (!isRefused || performance.now() >= deadlineMs) throw error;
        const { host } = new URL(request.url);
        if (!hasSaid) stderr.write(`No server listens on ${host} yet. Trying for 2 s.\n`);
        hasSaid = true;
        // An interruption ends the pause; the next attempt rejects then.
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  };
}
