import type { WebhookError } from "../../errors/webhook-error";
import type { ObservedRequest, ReceiverInspection } from "../../receiver/inspection";
import type { Explanation, RequestRow, Statistics, Totals } from "./console-view";
import { RouterError } from "../http/router-error";
import type { SignatureReport } from "../../signature/explain/causes";
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
  /** Returns the details of a request. @throws RouterError when it is no longer in memory. */
  find(id: number): KeptRequest;
  /** Calls a listener after each change; returns the function that removes it. */
  onChange(listener: () => void): () => void;
  /**
   * Finds why a signature does not match, within the receiver's budget.
   *
   * @throws RouterError when the request is no longer in memory, cannot be explained, or when
   *   the budget is used up.
   */
  explain(id: number): RequestRow;
  /** Explains the last request that can be explained and is not yet; returns whether there is one. */
  explainNewest(): boolean;
}

/** A request in the log. */
interface Entry {
  row: RequestRow;
  request: KeptRequest;
}

/** Starts to log the requests of a receiver; each costs some object fields and no I/O. */
export function createRequestLog(inspection: ReceiverInspection, reveals: boolean): RequestLog {
  const { hasQueue } = inspection;
  // A ring: a request is at its id modulo the size.
  const ring: (Entry | undefined)[] = Array.from({ length: MAX_ROWS });
  const explainable = new Map<number, WebhookError>();
  const counters = createCounters();
  const statistics = createStatistics();
  const listeners = new Set<() => void>();
  let change = 0;
  let lastId = 0;

  function observe(observed: ObservedRequest): void {
    const place = observed.id % MAX_ROWS;
    const earlier = ring[place];
    const toRow = (attempt: number) =>
      toRequestRow(observed, { change: ++change, attempt, reveals, hasQueue });
    if (earlier?.row.id === observed.id) {
      const row = toRow(earlier.row.attempt);
      counters.move(earlier.row, row);
      ring[place] = { row, request: keepRequest(observed) };
    } else if (observed.failedLater) {
      // A later request has its row.
      return;
    } else if (earlier !== undefined && earlier.row.id > observed.id) {
      // While it ran, 200 later requests arrived: it is counted, and has no row.
      count(toRow(1));
    } else {
      if (earlier !== undefined) explainable.delete(earlier.row.id);
      ring[place] = undefined;
      const row = toRow(findAttempt(observed));
      ring[place] = { row, request: keepRequest(observed) };
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

  function findAttempt({ queued }: ObservedRequest): number {
    if (queued === undefined) return 1;
    const { uuid, accountSid } = queued;
    const same = listRows().filter((row) => row.uuid === uuid && row.accountSid === accountSid);
    return Math.max(0, ...same.map(({ attempt }) => attempt)) + 1;
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

  function findEntry(id: number): Entry | undefined {
    const entry = Number.isSafeInteger(id) ? ring[id % MAX_ROWS] : undefined;
    return entry?.row.id === id ? entry : undefined;
  }

  function update(id: number, fields: Partial<RequestRow>): void {
    const entry = findEntry(id);
    if (entry !== undefined) entry.row = { ...entry.row, ...fields, change: ++change };
  }

  function explainWithinBudget(id: number, error: WebhookError): boolean {
    const report = error.explain();
    if (report === undefined) return false;
    update(id, { explanation: describeReport(report), canExplain: false });
    explainable.delete(id);
    for (const listener of listeners) listener();
    return true;
  }

  function listRows(afterChange = 0): RequestRow[] {
    const rows: RequestRow[] = [];
    for (let id = Math.max(1, lastId - MAX_ROWS + 1); id <= lastId; id++) {
      const row = findEntry(id)?.row;
      if (row !== undefined && row.change > afterChange) rows.push(row);
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
      const entry = findEntry(id);
      if (entry === undefined) {
        throw new RouterError(404, "NOT_FOUND", "This request is no longer in memory.");
      }
      return entry.request;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    explain(id) {
      const entry = findEntry(id);
      const error = explainable.get(id);
      if (entry === undefined || (entry.row.explanation === undefined && error === undefined)) {
        const message = "This request is no longer in memory, or cannot be explained.";
        throw new RouterError(404, "NOT_FOUND", message);
      }
      if (error !== undefined && !explainWithinBudget(id, error)) {
        const message =
          "No request can be explained now: at most 10 within a minute. Try again later.";
        throw new RouterError(429, "BUDGET_USED_UP", message);
      }
      return entry.row;
    },
    explainNewest() {
      const [id, error] = [...explainable].at(-1) ?? [];
      if (id === undefined || error === undefined) return false;
      explainWithinBudget(id, error);
      return true;
    },
  };
}

function describeReport({ causes }: SignatureReport): Explanation | undefined {
  const [cause, ...others] = causes;
  // Without a token there is nothing to compare with: the message says so.
  if (cause === undefined) return undefined;
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
