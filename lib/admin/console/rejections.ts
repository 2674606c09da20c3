import type { Count } from "../../core/door";
import { groupBy } from "../../kit/group-by";
import type { RequestRow } from "./request-row";

const LATELY_MS = 5 * 60_000;
const MAX_SOURCES = 5;

/** Lists the rejected requests by code, with their last senders; the rows are the newest first. */
export function listRejections(counts: readonly Count[], rows: readonly RequestRow[]) {
  const rejected = rows.filter(({ state }) => state === "rejected");
  const sinceMs = Date.now() - LATELY_MS;
  return [...groupBy(rejected, ({ code = "" }) => code)].map(([code, ownRows]) => {
    const own = counts.filter(({ name }) => name === `code:${code}`);
    return {
      code,
      // What is dropped is counted, and what is counted later has a row.
      count: Math.max(sum(own), ownRows.length),
      /** How many are of the last 5 minutes. */
      lately: sum(own.filter(({ minuteMs }) => minuteMs > sinceMs)),
      /** The minute of the first. */
      firstAtMs: own[0]?.minuteMs ?? ownRows.at(-1)?.atMs ?? 0,
      lastAtMs: ownRows[0]?.atMs ?? 0,
      sources: listSources(ownRows),
    };
  });
}

function sum(counts: readonly Count[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}

function listSources(rows: readonly RequestRow[]) {
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
export function listCauses(rows: readonly RequestRow[]) {
  const mismatches = rows.filter(({ code }) => code === "SIGNATURE_MISMATCH");
  const explained = mismatches.filter(isExplained);
  const causeOfKind = new Map(explained.map((row) => [kindOf(row), causeOf(row)]));
  const byCause = groupBy(mismatches, (row) => causeOf(row) ?? causeOfKind.get(kindOf(row)));
  return [...byCause.values()]
    .map((same) => {
      const own = same.filter(isExplained);
      const newest = own[0] ?? same[0];
      const first = same.at(-1);
      return {
        /** Undefined if there were too many at once to be explained. */
        explanation: newest?.explanation,
        count: own.length || same.length,
        /** How many more of the same sender and path were not explained. */
        alike: own.length === 0 ? 0 : same.length - own.length,
        id: newest?.id ?? "",
        firstAtMs: first?.atMs ?? 0,
        firstBuild: first?.build,
      };
    })
    .toSorted((a, b) => rank(a) - rank(b));
}

type Explained = Pick<RequestRow, "explanation">;

const isExplained = ({ explanation }: Explained): boolean => explanation !== undefined;

function causeOf({ explanation }: Explained): string | undefined {
  return explanation && `${explanation.cause} ${explanation.subject}`;
}

/** One of them a minute is explained. */
function kindOf({ target, sender }: RequestRow): string {
  return `${target} ${sender.userAgent}`;
}

function rank({ explanation }: Explained): number {
  return explanation === undefined ? 2 : explanation.isProven ? 0 : 1;
}
