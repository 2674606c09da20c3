import type { Count } from "../../core/door";
import { groupBy } from "../../kit/group-by";
import type { RejectionCause, Rejections, RequestRow } from "./console-view";

const LATELY_MS = 5 * 60_000;
const MAX_SOURCES = 5;

/** Lists the rejected requests by code; the rows, which are the newest first, have the senders. */
export function listRejections(
  counts: readonly Count[],
  rows: readonly RequestRow[],
): Rejections[] {
  const rejected = rows.filter(({ state }) => state === "rejected");
  const sources = groupBy(rejected, ({ code = "" }) => code);
  const ofCode = groupBy(counts, ({ name }) => name);
  return [...sources].map(([code, ownRows]) => {
    const own = ofCode.get(`code:${code}`) ?? [];
    const sinceMs = Date.now() - LATELY_MS;
    return {
      code,
      // What is dropped is counted, and what is counted later has a row.
      count: Math.max(sum(own), ownRows.length),
      lately: sum(own.filter(({ minuteMs }) => minuteMs > sinceMs)),
      firstAtMs: own[0]?.minuteMs ?? ownRows.at(-1)?.atMs ?? 0,
      lastAtMs: ownRows[0]?.atMs ?? 0,
      sources: listSources(ownRows),
    };
  });
}

function sum(counts: readonly Count[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}

/** Lists the last senders, the newest first, of rows in the same order. */
function listSources(rows: readonly RequestRow[]): Rejections["sources"] {
  const bySender = groupBy(rows, ({ sender }) => JSON.stringify(sender));
  return [...bySender.values()]
    .slice(0, MAX_SOURCES)
    .flatMap(([last, ...others]) =>
      last === undefined ? [] : [{ ...last.sender, count: 1 + others.length, lastAtMs: last.atMs }],
    );
}

/**
 * Lists why signatures did not match: what is proven comes first, and what is not explained last.
 *
 * @param rows all rows, the newest first.
 */
export function listCauses(rows: readonly RequestRow[]): RejectionCause[] {
  const mismatches = rows.filter(({ code }) => code === "SIGNATURE_MISMATCH");
  const explained = mismatches.filter(({ explanation }) => explanation !== undefined);
  const causeOfKind = new Map(explained.map((row) => [kindOf(row), causeOf(row)]));
  const byCause = groupBy(mismatches, (row) => causeOf(row) ?? causeOfKind.get(kindOf(row)));
  return [...byCause.values()]
    .map((same) => {
      const own = same.filter(({ explanation }) => explanation !== undefined);
      const newest = own[0] ?? same[0];
      return {
        explanation: newest?.explanation,
        count: own.length || same.length,
        alike: own.length === 0 ? 0 : same.length - own.length,
        id: newest?.id ?? "",
        firstAtMs: same.at(-1)?.atMs ?? 0,
        firstBuild: same.at(-1)?.build,
      };
    })
    .toSorted((a, b) => rank(a) - rank(b));
}

function causeOf({ explanation }: RequestRow): string | undefined {
  return explanation && `${explanation.cause} ${explanation.subject}`;
}

/** One of them a minute is explained. */
function kindOf({ target, sender }: RequestRow): string {
  return `${target} ${sender.userAgent}`;
}

function rank({ explanation }: RejectionCause): number {
  return explanation === undefined ? 2 : explanation.isProven ? 0 : 1;
}
