import * as z from "zod";
import { groupBy } from "../../kit/group-by";
import { SID_DIGITS } from "../../kit/sid";
import type { FailedRequests, RequestFilter, RequestRow } from "./console-view";
import { nameEvent } from "./request-row";

const name = z.string().max(256);

/** The schema of {@link RequestFilter}. */
export const filterSchema = z.strictObject({
  state: z
    .enum([
      "bad",
      "accepted",
      "handled",
      "stored",
      "failing",
      "dead",
      "discarded",
      "duplicate",
      "conflict",
      "rejected",
      "failed",
    ])
    .optional(),
  code: name.optional(),
  type: name.optional(),
  build: name.optional(),
  fromMs: z.number().optional(),
  toMs: z.number().optional(),
  text: z.string().max(1_100).optional(),
});

const CHALLENGE_AND_IDENTITY = new RegExp(`^(YC${SID_DIGITS})\\s+(.+)$`);

/** What a person looks for: of `<challenge SID> <identity>` the rows have the SID. */
export function readSought(text: string): { sought: string; identity: string | undefined } {
  const [, sought = text.trim(), identity] = CHALLENGE_AND_IDENTITY.exec(text.trim()) ?? [];
  return { sought, identity };
}

const BAD: ReadonlySet<string> = new Set(["rejected", "failed", "failing", "dead"]);

/** Whether a request was rejected, or its handlers failed. */
export const isBad = ({ state }: RequestRow): boolean => BAD.has(state);

/** Selects the rows of a filter; `person` is the pseudonym of its text. */
export function selectRows(
  rows: readonly RequestRow[],
  { state, code, type, build, fromMs = 0, toMs = Infinity, text = "" }: RequestFilter,
  person: string | undefined,
): RequestRow[] {
  const sought = readSought(text).sought.toLowerCase();
  return rows.filter(
    (row) =>
      (state === undefined ||
        state === row.state ||
        (state === "bad" && isBad(row)) ||
        (state === "accepted" && !isBad(row))) &&
      (code === undefined || code === row.code) &&
      (type === undefined || type === row.type) &&
      (build === undefined || build === row.build) &&
      row.atMs >= fromMs &&
      row.atMs < toMs &&
      (sought === "" || row.person === person || hasText(row, sought)),
  );
}

function hasText(row: RequestRow, sought: string): boolean {
  const { uuid, accountSid, factorSid, challengeSid, target, person } = row;
  // A masked identity is not compared: who knows it in full finds it by its pseudonym.
  const texts = [uuid, accountSid, factorSid, challengeSid, target, person];
  return texts.some((one = "") => one.toLowerCase().includes(sought));
}

/**
 * Selects those whose handlers failed and may run again, the oldest first: not one whose handlers have
 * succeeded since.
 */
export function selectFailed(
  rows: readonly RequestRow[],
  all: readonly RequestRow[],
): RequestRow[] {
  const handled = new Set(all.filter(({ state }) => state === "handled").map(nameEvent));
  return rows
    .filter(
      (row) =>
        row.canResend &&
        isBad(row) &&
        (row.resent === undefined || row.resent.problem !== undefined) &&
        !handled.has(nameEvent(row)),
    )
    .toReversed();
}

const MAX_ERRORS = 10;

/** Describes what a run of failed requests would run again. */
export function describeFailed(failed: readonly RequestRow[]): FailedRequests {
  const byError = groupBy(failed, ({ failure, code = "" }) => failure ?? code);
  const errors = [...byError].map(([error, { length }]) => ({ error, count: length }));
  return {
    count: failed.length,
    users: new Set(failed.flatMap(({ person }) => person ?? [])).size,
    firstAtMs: failed[0]?.atMs,
    lastAtMs: failed.at(-1)?.atMs,
    errors: errors.toSorted((a, b) => b.count - a.count).slice(0, MAX_ERRORS),
  };
}
