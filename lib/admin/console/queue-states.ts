import type { RequestRow } from "./console-view";
import type { ConsoleQueue } from "./queue-view";
import { findQueued } from "./request-details";
import type { RequestLog } from "./request-log";

const MAX_LOOKUPS = 25;
/** However many pages are open. */
const PAUSE_MS = 1_000;

/**
 * Creates the function that gives the rows of stored events the state that the queue knows. A call
 * looks up some of the rows that are not handled, the next call the others.
 */
export function createQueueStates(log: RequestLog, queue: ConsoleQueue, reveals: boolean) {
  let start = 0;
  let isRunning = false;
  let startedMs = -PAUSE_MS;

  return async function refresh(): Promise<void> {
    const nowMs = performance.now();
    if (isRunning || nowMs - startedMs < PAUSE_MS) return;
    const rows = log.listRows().filter(isUnsettled);
    if (rows.length === 0) return;
    isRunning = true;
    startedMs = nowMs;
    start %= rows.length;
    const some = [...rows.slice(start), ...rows.slice(0, start)].slice(0, MAX_LOOKUPS);
    start += some.length;
    try {
      await Promise.all(some.map(refreshRow));
    } catch {
      // The page loads the state of the queue as well, and shows why that failed.
    } finally {
      isRunning = false;
    }
  };

  async function refreshRow(row: RequestRow): Promise<void> {
    const { uuid = "", accountSid = "" } = row;
    const event = log.find(row.id).queued?.event;
    const found = await findQueued(queue, uuid, accountSid, event, reveals);
    if (found === undefined) return;
    const { state, attempts, failures } = found;
    const failure = state === "handled" ? undefined : failures.at(-1)?.error;
    const isDead = state === "dead";
    const message =
      failure === undefined
        ? `Its event is ${state}.`
        : `Attempt ${attempts} failed: its event ${isDead ? "is a dead letter" : "will run again"}.`;
    const hasFailed = isDead || state === "discarded";
    const result = hasFailed ? "failed" : state === "handled" ? "handled" : "stored";
    // A person has run it again since, and it has failed again.
    const hasFailedAgain =
      row.resent !== undefined && (failures.at(-1)?.atMs ?? 0) > row.resent.atMs;
    const problem = row.resent?.problem ?? (hasFailedAgain ? "It failed again." : undefined);
    const isSame = message === row.message && failure === row.failure;
    // Another result has another message.
    if (isSame && problem === row.resent?.problem) return;
    const resent = row.resent && { ...row.resent, problem };
    const canResend = row.canResend && state !== "discarded";
    log.update(row.id, { result, message, failure, resent, canResend });
  }
}

/** Whether the queue may still change the result; a dead letter may be retried. */
function isUnsettled({ result, status }: RequestRow): boolean {
  return result === "stored" || (result === "failed" && status === 200);
}
