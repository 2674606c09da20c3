import type { WebhookError } from "../../errors/webhook-error";
import type { ObservedRequest, ReceiverInspection } from "../../receiver/inspection";
import type { Explanation, RequestRow, Statistics, Totals } from "./console-view";
import { keepRequest, type KeptRequest } from "./request-details";
import { toRequestRow } from "./request-row";
import { createStatistics } from "./statistics";
import { createCounters } from "./totals";

const MAX_ROWS = 200;
/** An error refers to the parameters of its request: only the last ones can be explained. */
const MAX_EXPLAINABLE = 10;

/** The last webhook requests of a receiver, in the memory of this process. */
export interface RequestLog {
  /** The rows that changed after a change, the oldest first. */
  listRows(afterChange?: number): RequestRow[];
  /** Number of the last change. */
  readonly change: number;
  readTotals(): Totals;
  readStatistics(): Statistics;
  /** Returns the details of a request; undefined when it is no longer in memory. */
  find(id: number): KeptRequest | undefined;
  /** Calls a listener after each change; returns the function that removes it. */
  onChange(listener: () => void): () => void;
  /** Finds why a signature does not match, within the receiver's budget. */
  explain(id: number): ExplainResult;
  /** The newest row that can be explained and is not yet. */
  findUnexplained(): RequestRow | undefined;
}

/** The result of {@link RequestLog.explain}. */
export type ExplainResult = "unknown request" | "budget used up" | RequestRow;

/** Starts to log the requests of a receiver; each costs some object fields and no I/O. */
export function createRequestLog(inspection: ReceiverInspection, reveals: boolean): RequestLog {
  const { hasQueue } = inspection;
  // A ring: the row of a request is at its id modulo the size.
  const ring: (RequestRow | undefined)[] = Array.from({ length: MAX_ROWS });
  const kept: (KeptRequest | undefined)[] = Array.from({ length: MAX_ROWS });
  const attemptsByUuid = new Map<string, number>();
  const explainable = new Map<number, WebhookError>();
  const counters = createCounters();
  const statistics = createStatistics();
  const listeners = new Set<() => void>();
  let change = 0;
  let lastId = 0;

  function observe(observed: ObservedRequest): void {
    const place = observed.id % MAX_ROWS;
    const earlier = ring[place];
    if (earlier?.id === observed.id) {
      const context = { change: ++change, attempt: earlier.attempt, reveals, hasQueue };
      const row = toRequestRow(observed, context);
      counters.move(earlier, row);
      ring[place] = row;
    } else if (observed.failedLater) {
      // Its row was overwritten.
      return;
    } else if (earlier !== undefined && earlier.id > observed.id) {
      // It took longer than 200 others.
      count(toRequestRow(observed, { change: ++change, attempt: 1, reveals, hasQueue }));
    } else {
      if (earlier !== undefined) forgetUuid(earlier);
      const attempt = countAttempt(observed);
      const row = toRequestRow(observed, { change: ++change, attempt, reveals, hasQueue });
      ring[place] = row;
      kept[place] = keepRequest(observed);
      // Requests finish in another order than they arrive.
      lastId = Math.max(lastId, row.id);
      count(row);
      if (observed.error !== undefined) keepExplainable(row, observed.error);
    }
    for (const listener of listeners) listener();
  }

  function count(row: RequestRow): void {
    counters.add(row);
    statistics.add(row);
  }

  function countAttempt({ queued }: ObservedRequest): number {
    if (queued === undefined) return 1;
    const key = `${queued.accountSid} ${queued.uuid}`;
    const attempt = (attemptsByUuid.get(key) ?? 0) + 1;
    attemptsByUuid.set(key, attempt);
    return attempt;
  }

  function forgetUuid({ id, uuid, accountSid, attempt }: RequestRow): void {
    explainable.delete(id);
    if (uuid === undefined) return;
    const key = `${accountSid} ${uuid}`;
    // A later delivery of it is still here.
    if (attemptsByUuid.get(key) === attempt) attemptsByUuid.delete(key);
  }

  function keepExplainable(row: RequestRow, error: WebhookError): void {
    if (error.code !== "SIGNATURE_MISMATCH" && error.code !== "SIGNATURE_MALFORMED") return;
    row.canExplain = true;
    explainable.set(row.id, error);
    if (explainable.size <= MAX_EXPLAINABLE) return;
    const [oldest = 0] = explainable.keys();
    explainable.delete(oldest);
    update(oldest, { canExplain: false });
  }

  function update(id: number, fields: Partial<RequestRow>): RequestRow | undefined {
    const row = ring[id % MAX_ROWS];
    if (row?.id !== id) return undefined;
    return (ring[id % MAX_ROWS] = { ...row, ...fields, change: ++change });
  }

  function listRows(afterChange = 0): RequestRow[] {
    const rows: RequestRow[] = [];
    for (let id = Math.max(1, lastId - MAX_ROWS + 1); id <= lastId; id++) {
      const row = ring[id % MAX_ROWS];
      if (row?.id === id && row.change > afterChange) rows.push(row);
    }
    return rows;
  }

  inspection.observe(observe);

  return {
    listRows,
    get change() {
      return change;
    },
    readTotals: () =>
      counters.read(listRows(), inspection.readPendingWaits(), inspection.tokenCount),
    readStatistics: () => statistics.read(Date.now()),
    find(id) {
      const found = kept[id % MAX_ROWS];
      return found?.id === id ? found : undefined;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    explain(id) {
      const row = ring[id % MAX_ROWS];
      if (row?.id !== id) return "unknown request";
      if (row.explanation !== undefined) return row;
      const error = explainable.get(id);
      if (error === undefined) return "unknown request";
      const explanation = explainError(error);
      if (explanation === "budget used up") return explanation;
      explainable.delete(id);
      const explained = update(id, { explanation, canExplain: false });
      for (const listener of listeners) listener();
      return explained ?? "unknown request";
    },
    findUnexplained() {
      const newest = Math.max(...explainable.keys());
      const row = explainable.size === 0 ? undefined : ring[newest % MAX_ROWS];
      return row?.id === newest ? row : undefined;
    },
  };
}

function explainError(error: WebhookError): Explanation | undefined | "budget used up" {
  const report = error.explain();
  const [cause, ...others] = report?.causes ?? [];
  if (cause === undefined) {
    // Without a token there is nothing to compare with: the message says so.
    return report === undefined ? "budget used up" : undefined;
  }
  const { code, isProven, explanation, fix, subject } = cause;
  return {
    code,
    isProven,
    cause: explanation,
    fix,
    subject,
    others: others.slice(0, 3).map((other) => other.explanation),
  };
}
