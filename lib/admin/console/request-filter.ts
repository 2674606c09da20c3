import * as z from "zod";
import type { Journal } from "../../core/door";
import { groupBy } from "../../kit/group-by";
import { SID_DIGITS } from "../../kit/sid";
import { nameEvent, type RequestRow } from "./request-row";

const name = z.string().max(256).optional();
const BAD = ["rejected", "failed", "failing", "dead"] as const;
const GOOD = ["handled", "stored", "discarded", "duplicate", "conflict"] as const;

/** The schema of a {@link RequestFilter}. */
export const filterSchema = z.strictObject({
  /** `bad`: rejected, failed, failing or dead; `accepted`: all others. */
  state: z.enum(["bad", "accepted", ...BAD, ...GOOD]).optional(),
  code: name,
  type: name,
  build: name,
  fromMs: z.number().optional(),
  /** The time after the last. */
  toMs: z.number().optional(),
  /** An identity or a pseudonym, exact; or a part of the uuid, of a SID or of the path. */
  text: z.string().max(1_100).optional(),
});

/** Which requests to show; a member that is undefined selects all. */
export type RequestFilter = z.output<typeof filterSchema>;

const CHALLENGE_AND_IDENTITY = new RegExp(`^(YC${SID_DIGITS})\\s+(.+)$`);

/** What a person looks for: of `<challenge SID> <identity>` the rows have the SID. */
export function readSought(text: string): { sought: string; identity: string | undefined } {
  const [, sought = text.trim(), identity] = CHALLENGE_AND_IDENTITY.exec(text.trim()) ?? [];
  return { sought, identity };
}

/** Whether a request was rejected, or its handlers failed. */
export const isBad = ({ state }: RequestRow): boolean => (BAD as readonly string[]).includes(state);

/** Selects the rows of a filter. */
export async function selectRows(
  rows: readonly RequestRow[],
  { state, code, type, build, fromMs = 0, toMs = Infinity, text = "" }: RequestFilter,
  journal: Journal,
): Promise<RequestRow[]> {
  const { sought } = readSought(text);
  const person = sought === "" ? undefined : await journal.createPseudonym(sought);
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
      (sought === "" || row.person === person || hasText(row, sought.toLowerCase())),
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
 * succeeded since, and of an event that failed several times the last one.
 */
export function selectFailed(
  rows: readonly RequestRow[],
  all: readonly RequestRow[],
): RequestRow[] {
  const handled = new Set(all.filter(({ state }) => state === "handled").map(nameEvent));
  const failed = rows.filter(
    (row) =>
      row.canResend &&
      isBad(row) &&
      (row.resent === undefined || row.resent.problem !== undefined) &&
      !handled.has(nameEvent(row)),
  );
  return [...groupBy(failed, nameEvent).values()].flatMap(([last]) => last ?? []).toReversed();
}

const MAX_ERRORS = 10;

/** Describes what a run of failed requests would run again, with the most frequent errors first. */
export function describeFailed(failed: readonly RequestRow[]) {
  const byError = groupBy(failed, ({ failure, code = "" }) => failure ?? code);
  const errors = [...byError].map(([error, { length }]) => ({ error, count: length }));
  return {
    count: failed.length,
    /** How many users they have. */
    users: new Set(failed.flatMap(({ person }) => person ?? [])).size,
    firstAtMs: failed[0]?.atMs,
    lastAtMs: failed.at(-1)?.atMs,
    errors: errors.toSorted((a, b) => b.count - a.count).slice(0, MAX_ERRORS),
  };
}
