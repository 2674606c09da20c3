import type { ReceiverInspection, WebhookError } from "../../core/door";
import { describeReasons } from "../../kit/thrown-value";
import type { Arrival } from "./arrival";
import { probeUrl } from "./probe";
import type { Problem, RehearsalLink, RehearsalRows } from "./report";

/** What `waitForChallenge` has come to. */
export interface Waited {
  outcome: unknown;
  error: unknown;
  atMs: number;
}

/** What a judgement needs beside the arrival. */
export interface Circumstances {
  publicUrl: string;
  inspection: ReceiverInspection;
  rows: RehearsalRows;
  timeoutMs: number;
  /** How far the clock of this process is ahead of that of the service. */
  clockAheadMs: number;
}

/** The links that a code is about; any other code is about the delivery. */
const LINKS: Partial<Record<WebhookError["code"], RehearsalLink>> = {
  SIGNATURE_MISSING: "signature",
  SIGNATURE_MALFORMED: "signature",
  SIGNATURE_MISMATCH: "signature",
  TOKEN_UNAVAILABLE: "signature",
  ACCOUNT_NOT_ALLOWED: "signature",
  PAYLOAD_INVALID: "signature",
  PAYLOAD_AMBIGUOUS: "signature",
  STORE_UNAVAILABLE: "stored",
  OVERLOADED: "stored",
  CLOSING: "stored",
  NOT_CONFIRMED: "confirm",
  CONFIRM_UNAVAILABLE: "confirm",
  HANDLER_FAILED: "handled",
  HANDLER_TIMEOUT: "handled",
};

const FIXES: Partial<Record<RehearsalLink, string>> = {
  delivery: "Its section in docs/errors.md has the fix.",
  signature: "Its section in docs/errors.md has the fix.",
  stored: "Repair the store; push.health() and the log have its error.",
  confirm:
    "The client of confirmWith must ask the service that sends the events: check its verifyUrl, serviceSid and credentials.",
  handled: "Repair the handler; onError and the log have its error.",
};

const NO_WORKER: Problem = {
  reason: "No worker takes events of this queue.",
  fix: "Start one with queue.work(handlers).",
};

/** Only its log has the error. */
const FAILED_ELSEWHERE = "An attempt failed in another process, and is to be repeated.";

/** A clock that differs by more is worth a word. */
const MAX_CLOCK_SKEW_MS = 300_000;

/** Adds the rows from `delivery` to `waited`: what became of a webhook request, and of its wait. */
export async function judgeArrival(
  arrival: Arrival,
  waited: Waited,
  given: Circumstances,
): Promise<void> {
  const { rows, timeoutMs } = given;
  const { error } = arrival.request ?? { error: arrival.unread };
  const isElsewhere = waited.outcome !== undefined || arrival.state !== undefined;
  if (arrival.request === undefined && isElsewhere) {
    const atMs = waited.outcome === undefined ? performance.now() : waited.atMs;
    rows.ok("delivery", atMs - arrival.startMs, "Another process received it.");
    judgeAccepted(arrival, waited, given);
  } else if (error !== undefined) judgeError(arrival, error, given);
  else if (arrival.request !== undefined) judgeAccepted(arrival, waited, given);
  else await judgeMissing(arrival, given);
  judgeWait(arrival, waited, rows, timeoutMs);
}

/** A request that was rejected, or whose handlers failed before the response. */
function judgeError(arrival: Arrival, error: WebhookError, given: Circumstances): void {
  const { rows } = given;
  const link = LINKS[error.code] ?? "delivery";
  const atMs = arrivalMs(arrival);
  for (const before of ["delivery", "signature", "stored", "confirm"] as const) {
    if (before === link) break;
    if (before === "confirm" && skipConfirm(given)) continue;
    rows.ok(before, atMs);
  }
  const [cause] = error.explain()?.causes ?? [];
  const reasons = describeReasons(error.cause);
  const text = cause?.explanation ?? [error.message, reasons].filter(Boolean).join(" ");
  const fix = cause?.fix ?? fixOf(link, given);
  // It may be that of another client.
  const about = arrival.request === undefined ? "The only requests were rejected unread. " : "";
  rows.fail(link, atMs, { reason: `${about}${error.code}: ${text}`, fix });
}

/** A request that was accepted, by this process or by another one. */
function judgeAccepted(arrival: Arrival, waited: Waited, given: Circumstances): void {
  const { rows, inspection } = given;
  const atMs = arrivalMs(arrival);
  for (const link of ["delivery", "signature", "stored"] as const) rows.ok(link, atMs);
  if (inspection.queue !== undefined) return judgeQueued(arrival, waited, given);
  if (!skipConfirm(given)) rows.ok("confirm", atMs);
  if (inspection.acknowledge === "after") rows.ok("handled", atMs);
  else {
    const where = 'With acknowledge: "before", they run after the response; onError has failures.';
    rows.skip("handled", where);
  }
}

/** An event in a queue, whose worker confirms and handles it. */
function judgeQueued(arrival: Arrival, waited: Waited, given: Circumstances): void {
  const { rows, timeoutMs } = given;
  const { state, workers, failures } = arrival;
  const sinceMs = performance.now() - arrival.startMs;
  const last = failures.at(-1) ?? (state === "delayed" ? FAILED_ELSEWHERE : "");
  const link =
    last === FAILED_ELSEWHERE ? "confirm" : LINKS[last.replace(/:.*/s, "") as WebhookError["code"]];
  if (!skipConfirm(given)) {
    if (waited.outcome !== undefined) rows.ok("confirm", waited.atMs - arrival.startMs);
    else if (link === "confirm") {
      rows.fail("confirm", sinceMs, { reason: last, fix: fixOf("confirm", given) });
      return rows.skip("handled", "The event is not confirmed.");
    } else rows.skip("confirm", "No worker has asked it.");
  }
  if (state === "handled") rows.ok("handled", sinceMs);
  else if (last !== "") rows.fail("handled", sinceMs, { reason: last, fix: FIXES.handled });
  else if (workers === 0) rows.fail("handled", sinceMs, NO_WORKER);
  else if (state === undefined) {
    rows.skip("handled", "Another process stored the event, and the queue was not asked for it.");
  } else {
    const reason = `After ${timeoutMs} ms the event is still ${state}.`;
    rows.fail("handled", sinceMs, { reason, fix: "Look at the workers and the age of the queue." });
  }
}

async function judgeMissing(arrival: Arrival, given: Circumstances): Promise<void> {
  const { rows, publicUrl, timeoutMs, inspection } = given;
  const probe = await probeUrl(publicUrl, () => arrival.count);
  const hasQueue = inspection.queue !== undefined;
  const { reason, fix } = typeof probe === "object" ? probe : describeProbe(probe, hasQueue);
  rows.fail("delivery", timeoutMs, {
    reason: `No webhook request of the challenge arrived within ${timeoutMs} ms. ${reason}`,
    fix,
  });
}

function describeProbe(probe: "here" | "another process", hasQueue: boolean): Problem {
  if (probe === "here") {
    return {
      reason: "A request from this process to publicUrl arrived here, but none of the service did.",
      fix: "Let a firewall, a login and an allow-list in front of the app pass the requests of the service.",
    };
  }
  return {
    reason: "publicUrl leads to another process, whose requests this process does not see.",
    fix: hasQueue
      ? "Look at the log of the other processes, and at the dead letters: they have the reason. Or rehearse again, until the request arrives here."
      : "Without a queue, a login must wait in the process that gets its event: use a queue.",
  };
}

function judgeWait(
  arrival: Arrival,
  { outcome, error, atMs }: Waited,
  rows: RehearsalRows,
  timeoutMs: number,
): void {
  const sinceMs = atMs - arrival.startMs;
  if (outcome !== undefined) rows.ok("waited", sinceMs);
  else if (rows.hasFailed) rows.skip("waited", "It needs the links before it.");
  else if (error !== undefined) {
    const { code = "", message } = error as Partial<WebhookError> & Error;
    rows.fail("waited", sinceMs, { reason: `${code}: ${message}`, fix: FIXES.delivery });
  } else {
    const reason = `The wait did not end within ${timeoutMs} ms.`;
    const fix = "Wait at a receiver that shares the queue and the name of the one that receives.";
    rows.fail("waited", timeoutMs, { reason, fix });
  }
}

/** Skips `confirm` if the receiver has none, and returns whether it has none. */
function skipConfirm({ rows, inspection }: Circumstances): boolean {
  if (inspection.confirm !== undefined) return false;
  rows.skip("confirm", "The receiver has no option confirm: the signature is the only proof.");
  return true;
}

function fixOf(link: RehearsalLink, { clockAheadMs }: Circumstances): string | undefined {
  if (link !== "confirm" || Math.abs(clockAheadMs) < MAX_CLOCK_SKEW_MS) return FIXES[link];
  const minutes = Math.round(Math.abs(clockAheadMs) / 60_000);
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  return `Set the clock of this machine: it is ${minutes} minutes ${side} that of the service.`;
}

/** When the request arrived, since the phone approved. */
function arrivalMs({ request, startMs }: Arrival): number {
  return request === undefined ? performance.now() - startMs : request.startMs - startMs;
}
