import { readLimited } from "../../kit/local-server";
import { readText } from "../../kit/thrown-value";
import { findErrorCode } from "../client/api-error";
import type { Problem } from "./report";

const TIMEOUT_MS = 5_000;
/** No response of a receiver is longer. */
const MAX_BYTES = 1_024;
const LINE_BREAK = 10;

/** A balancer sends them to several processes in turn. */
const MAX_PROBES = 4;

/** Where an unsigned request to a publicUrl has led. */
export type Probe = "here" | "another process" | Problem;

/**
 * Sends unsigned requests to a publicUrl, to find out why no webhook request arrived, until one leads
 * elsewhere than to this process, whose receiver counts what arrives.
 */
export async function probeUrl(publicUrl: string, countArrived: () => number): Promise<Probe> {
  let probe: Probe = "here";
  for (let count = 0; count < MAX_PROBES && probe === "here"; count++) {
    probe = await sendProbe(publicUrl, countArrived);
  }
  return probe;
}

async function sendProbe(publicUrl: string, countArrived: () => number): Promise<Probe> {
  const before = countArrived();
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
    if (countArrived() > before) return "here";
    // Nothing else than a receiver ends its text with a line break.
    const isReceiver =
      response.headers.get("cache-control") === "no-store" && bytes?.at(-1) === LINE_BREAK;
    if (isReceiver) return "another process";
    return {
      reason: `publicUrl responded ${response.status}, and not this receiver: a proxy or another part of the app.`,
      fix: "Mount the receiver at publicUrl before other parts, and let the proxy pass its requests on.",
    };
  } catch (error) {
    return {
      reason: `publicUrl could not be reached from this process: ${nameFailure(error, TIMEOUT_MS)}.`,
      fix: "Check DNS, TLS, the port and the proxy of publicUrl.",
    };
  }
}

/** Names a failure by its code: a message may hold more than people should see. */
function nameFailure(error: unknown, timeoutMs: number): string {
  if (readText(error, "name") === "TimeoutError") {
    return `no response within ${timeoutMs / 1_000} s`;
  }
  return findErrorCode(error) ?? "the connection failed";
}
