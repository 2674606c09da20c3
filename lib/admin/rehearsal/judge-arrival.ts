import type { WebhookError } from "../../index";
import { describeReasons } from "../../kit/thrown-value";
import type { Arrival } from "./arrival";
import { probeUrl } from "./probe";
import type { Problem, RehearsalLink, RehearsalRows } from "./report";

interface Judged {
  arrival: Arrival;
  rows: RehearsalRows;
  publicUrl: string;
  timeoutMs: number;
  /** How far the clock of the service is behind. */
  clockAheadMs: number;
}

/** The errors that are about a link; any other is about the delivery. */
const ERRORS = [
  ["signature", /^(SIGNATURE_|PAYLOAD_|TOKEN_UNAVAILABLE|ACCOUNT_NOT_ALLOWED)/],
  ["stored", /^(STORE_UNAVAILABLE|OVERLOADED|CLOSING)/],
  ["confirm", /^(NOT_CONFIRMED|CONFIRM_UNAVAILABLE)/],
  ["handled", /^HANDLER_/],
] as const;

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

const MAX_CLOCK_SKEW_MS = 300_000;

/** Adds the rows from `delivery` to `waited`: what became of a webhook request, and of its wait. */
export async function judgeArrival(given: Judged): Promise<void> {
  const { arrival, rows } = given;
  const { request, state, resolvedMs } = arrival;
  const error = request === undefined ? arrival.unread : request.error;
  if (request === undefined && (resolvedMs ?? state) !== undefined) {
    rows.ok("delivery", resolvedMs, "Another process received it.");
    judgeAccepted(given);
  } else if (error !== undefined) judgeError(error, given);
  else if (request !== undefined) judgeAccepted(given);
  else await judgeMissing(given);
  judgeWait(given);
}

/** A request that was rejected, or whose handlers failed before the response. */
function judgeError(error: WebhookError, given: Judged): void {
  const { arrival, rows } = given;
  const link = linkOf(error.code) ?? "delivery";
  const atMs = arrival.request?.startMs;
  for (const before of ["delivery", "signature", "stored", "confirm"] as const) {
    if (before === link) break;
    if (before !== "confirm" || !skipConfirm(given)) rows.ok(before, atMs);
  }
  const [cause] = error.explain()?.causes ?? [];
  const reasons = describeReasons(error.cause);
  const text = cause?.explanation ?? [error.message, reasons].filter(Boolean).join(" ");
  const fix = cause?.fix ?? fixOf(link, given);
  // Another client may have sent it.
  const about = arrival.request === undefined ? "The only requests were rejected unread. " : "";
  rows.fail(link, { reason: `${about}${error.code}: ${text}`, fix }, atMs);
}

/** A request that was accepted, by this process or by another one. */
function judgeAccepted(given: Judged): void {
  const { arrival, rows } = given;
  const { inspection, request } = arrival;
  const atMs = request?.startMs;
  for (const link of ["delivery", "signature", "stored"] as const) rows.ok(link, atMs);
  if (inspection.queue !== undefined) return judgeQueued(given);
  if (!skipConfirm(given)) rows.ok("confirm", atMs);
  if (inspection.acknowledge === "after") rows.ok("handled", atMs);
  else {
    const where = 'With acknowledge: "before", they run after the response; onError has failures.';
    rows.skip("handled", where);
  }
}

/** An event in a queue, whose worker confirms and handles it. */
function judgeQueued(given: Judged): void {
  const { arrival, rows, timeoutMs } = given;
  const { state, workers, failures, resolvedMs } = arrival;
  const last = failures.at(-1) ?? (state === "delayed" ? FAILED_ELSEWHERE : "");
  if (!skipConfirm(given)) {
    if (resolvedMs !== undefined) rows.ok("confirm", resolvedMs);
    else if (last === FAILED_ELSEWHERE || linkOf(last) === "confirm") {
      rows.fail("confirm", { reason: last, fix: fixOf("confirm", given) });
      return rows.skip("handled", "The event is not confirmed.");
    } else rows.skip("confirm", "No worker has asked it.");
  }
  if (state === "handled") rows.ok("handled");
  else if (last !== "") rows.fail("handled", { reason: last, fix: FIXES.handled });
  else if (workers === 0) rows.fail("handled", NO_WORKER);
  else if (state === undefined) {
    rows.skip("handled", "Another process stored the event, and the queue was not asked for it.");
  } else {
    const reason = `After ${timeoutMs} ms the event is still ${state}.`;
    rows.fail("handled", { reason, fix: "Look at the workers and the age of the queue." });
  }
}

async function judgeMissing({ arrival, rows, publicUrl, timeoutMs }: Judged): Promise<void> {
  const probe = await probeUrl(publicUrl, () => arrival.count);
  const hasQueue = arrival.inspection.queue !== undefined;
  const { reason, fix } = typeof probe === "object" ? probe : describeProbe(probe, hasQueue);
  rows.fail("delivery", {
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

function judgeWait({ arrival: { resolvedMs, waitError }, rows, timeoutMs }: Judged): void {
  if (resolvedMs !== undefined) rows.ok("waited", resolvedMs);
  else if (rows.hasFailed) rows.skip("waited", "It needs the links before it.");
  else if (waitError !== undefined) {
    const { code, message } = waitError;
    rows.fail("waited", { reason: `${code}: ${message}`, fix: FIXES.delivery });
  } else {
    const reason = `The wait did not end within ${timeoutMs} ms.`;
    const fix = "Wait at a receiver that shares the queue and the name of the one that receives.";
    rows.fail("waited", { reason, fix });
  }
}

/** Returns whether the receiver has no `confirm`. */
function skipConfirm({ rows, arrival }: Judged): boolean {
  if (arrival.inspection.confirm !== undefined) return false;
  rows.skip("confirm", "The receiver has no option confirm: the signature is the only proof.");
  return true;
}

function linkOf(error: string): RehearsalLink | undefined {
  return ERRORS.find(([, codes]) => codes.test(error))?.[0];
}

function fixOf(link: RehearsalLink, { clockAheadMs }: Judged): string | undefined {
  if (link !== "confirm" || Math.abs(clockAheadMs) < MAX_CLOCK_SKEW_MS) return FIXES[link];
  const minutes = Math.round(Math.abs(clockAheadMs) / 60_000);
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  return `Set the clock of this machine: it is ${minutes} minutes ${side} the clock of the service.`;
}
