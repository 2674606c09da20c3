import type {
  ObservedRequest,
  ReceiverInspection,
  SignatureReport,
  WebhookError,
} from "../../core/door";
import type { Explanation, Changes, RequestRow } from "./console-view";
import { createCounters } from "./counters";
import { RouterError } from "../http/router-error";
import { keepRequest, type KeptRequest } from "./request-details";
import { toRequestRow } from "./request-row";

const MAX_ROWS = 200;
/** An error refers to the parameters of its request: only the last ones can be explained. */
const MAX_EXPLAINABLE = 10;
/** Requests of one kind have these headers and their path in common. */
const KIND_HEADERS = new Set(["host", "user-agent"]);
const MAX_KINDS = 100;

/** The last webhook requests of a receiver, in the memory of this process. */
export type RequestLog = ReturnType<typeof createRequestLog>;

interface Entry {
  /** The requests are counted from 1. */
  number: number;
  row: RequestRow;
  request: KeptRequest;
}

/** Starts to log the requests of a receiver; each costs some object fields and no I/O. */
export function createRequestLog(
  inspection: ReceiverInspection,
  owner: Changes["process"],
  reveals: boolean,
) {
  const hasQueue = inspection.queue !== undefined;
  // A ring: a request is at its number modulo the size.
  const ring: (Entry | undefined)[] = Array.from({ length: MAX_ROWS });
  const explainable = new Map<string, { error: WebhookError; kind: string }>();
  /** The kinds of which one was explained. */
  const explainedKinds = new Set<string>();
  const counters = createCounters(inspection.tokenCount);
  let change = 0;
  let lastNumber = 0;

  function observe(observed: ObservedRequest): void {
    const { id: number } = observed;
    const place = number % MAX_ROWS;
    const earlier = ring[place];
    const request = keepRequest(observed);
    const canResend = request.queued !== undefined && request.isAccepted;
    const known = { id: `${owner.id}-${number}`, canResend };
    const toRow = (attempt: number) =>
      toRequestRow(observed, { ...known, change: ++change, attempt }, { reveals, hasQueue });
    if (earlier?.number === number) {
      const row = toRow(earlier.row.attempt);
      counters.fail(earlier.row, row.code ?? "");
      ring[place] = { number, row, request };
    } else if (observed.failedLater) {
      // A later request has its row.
      return;
    } else if (earlier !== undefined && earlier.number > number) {
      // While it ran, 200 later requests arrived: it is counted, and has no row.
      counters.add(toRow(1), observed);
    } else {
      if (earlier !== undefined) explainable.delete(earlier.row.id);
      ring[place] = undefined;
      const row = toRow(findAttempt(observed));
      ring[place] = { number, row, request };
      // Requests finish in another order than they arrive.
      lastNumber = Math.max(lastNumber, number);
      counters.add(row, observed);
      if (observed.error !== undefined) keepExplainable(row, observed, observed.error);
    }
  }

  function findAttempt({ queued }: ObservedRequest): number {
    if (queued === undefined) return 1;
    const { uuid, accountSid } = queued;
    const same = listRows().filter((row) => row.uuid === uuid && row.accountSid === accountSid);
    return Math.max(0, ...same.map(({ attempt }) => attempt)) + 1;
  }

  function keepExplainable(
    row: RequestRow,
    { request, headers }: ObservedRequest,
    error: WebhookError,
  ): void {
    if (error.code !== "SIGNATURE_MISMATCH" && error.code !== "SIGNATURE_MALFORMED") return;
    row.canExplain = true;
    const senders = headers.filter(([name]) => KIND_HEADERS.has(name));
    explainable.set(row.id, { error, kind: JSON.stringify([request.path, senders]) });
    if (explainable.size <= MAX_EXPLAINABLE) return;
    // The last of each kind stays: the requests of one sender do not hide the mistake of another.
    const kept = [...explainable];
    const last = new Map(kept.map(([id, { kind }]) => [kind, id]));
    const [oldest] = kept.find(([id, { kind }]) => last.get(kind) !== id) ?? kept[0] ?? [""];
    explainable.delete(oldest);
    update(oldest, { canExplain: false });
  }

  function findEntry(id: string): Entry | undefined {
    const entry = ring[Number(id.slice(owner.id.length + 1)) % MAX_ROWS];
    return entry?.row.id === id ? entry : undefined;
  }

  function getEntry(id: string): Entry {
    if (!id.startsWith(`${owner.id}-`)) {
      const message = `This request is of another process, or from before a restart; process ${owner.name} responded.`;
      throw new RouterError(409, "ANOTHER_PROCESS", message);
    }
    const entry = findEntry(id);
    if (entry !== undefined) return entry;
    const message = `This request is no longer in memory: the last ${MAX_ROWS} are kept.`;
    throw new RouterError(404, "NOT_FOUND", message);
  }

  function update(id: string, fields: Partial<RequestRow>): void {
    const entry = findEntry(id);
    if (entry === undefined) return;
    entry.row = { ...entry.row, ...fields, change: ++change };
  }

  function explainWithinBudget(id: string): boolean {
    const { error, kind = "" } = explainable.get(id) ?? {};
    if (error === undefined) return true;
    const report = error.explain();
    if (report === undefined) return false;
    update(id, { explanation: describeReport(report), canExplain: false });
    explainable.delete(id);
    explainedKinds.add(kind);
    const [oldest = ""] = explainedKinds;
    if (explainedKinds.size > MAX_KINDS) explainedKinds.delete(oldest);
    return true;
  }

  function listRows(afterChange = 0): RequestRow[] {
    const rows: RequestRow[] = [];
    for (let number = Math.max(1, lastNumber - MAX_ROWS + 1); number <= lastNumber; number++) {
      const entry = ring[number % MAX_ROWS];
      if (entry?.number === number && entry.row.change > afterChange) rows.push(entry.row);
    }
    return rows;
  }

  inspection.observe(observe);

  return {
    /** The rows that changed after a change, the oldest first. */
    listRows,
    /** Number of the last change. */
    get change() {
      return change;
    },
    readTotals: counters.readTotals,
    readSeries: () => counters.readSeries(Date.now()),
    /** The process of these requests. */
    owner,
    /** Returns the details of a request. @throws RouterError when they are not in the memory of this process. */
    find: (id: string) => getEntry(id).request,
    /** Changes fields of a row, if it is still in memory. */
    update,
    /** Finds why a signature does not match. @throws RouterError also when the budget is used up. */
    explain(id: string): RequestRow {
      const entry = getEntry(id);
      if (entry.row.explanation === undefined && !explainable.has(id)) {
        throw new RouterError(404, "NOT_FOUND", "This request cannot be explained.");
      }
      if (explainWithinBudget(id)) return entry.row;
      const message =
        "No request can be explained now: at most 10 within a minute. Try again later.";
      throw new RouterError(429, "BUDGET_USED_UP", message);
    },
    /**
     * Explains the last request that can be explained and is not yet, of a kind of which none was, if
     * there is one; returns whether there is a request.
     */
    explainNewest(): boolean {
      const newest = [...explainable].toReversed();
      const [id] = newest.find(([, { kind }]) => !explainedKinds.has(kind)) ?? newest[0] ?? [];
      if (id === undefined) return false;
      explainWithinBudget(id);
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
    cause: isProven ? explanation : `Probably: ${explanation}`,
    fix,
    subject,
    others: others.slice(0, 3).map((other) => other.explanation),
  };
}
