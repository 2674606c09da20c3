import * as z from "zod";
import { hashText } from "../../kit/hash";
import { PROCESS_NAME } from "../../kit/process-name";
import type { JournalView } from "./journal-view";
import type { OpenConsole } from "./open-console";
import {
  describeFailed,
  filterSchema,
  selectFailed,
  selectRows,
  type RequestFilter,
} from "./request-filter";
import { listCauses } from "./rejections";
import { listMinutes, sumCounts } from "./totals";

const MAX_ROWS = 200;
const MAX_CLAIMS = 100;

/** The schema of a poll. */
export const pollSchema = z.strictObject({
  filter: filterSchema,
  /** The `position` of an earlier response for the same filter, of any process. */
  position: z.string().max(64).optional(),
});

/** The history of requests, events and changes. */
export type ShownHistory = Awaited<ReturnType<typeof showHistory>>;

async function showHistory(
  filter: RequestFilter,
  view: JournalView,
  tokenCount: number | undefined,
) {
  const { journal } = view;
  const { rows, changes, builds, counts, sinceMs } = await view.read();
  const found = await selectRows(rows, filter, journal);
  // Whoever knows an identity can send requests that claim it: they hide no others.
  let claims = 0;
  const isListed = ({ isAuthenticated }: (typeof rows)[number]) =>
    !filter.text || isAuthenticated || ++claims <= MAX_CLAIMS;
  return {
    /** Whether it is of all processes, and survives them. */
    isShared: journal.isShared,
    sinceMs,
    /** How many entries were dropped, because there were too many at once. */
    dropped: counts.reduce((sum, { name, count }) => sum + (name === "dropped" ? count : 0), 0),
    rows: found.filter(isListed).slice(0, MAX_ROWS),
    found: found.length,
    failed: describeFailed(selectFailed(found, rows)),
    causes: listCauses(rows),
    totals: sumCounts(counts, rows, tokenCount),
    minutes: listMinutes(counts),
    builds,
    changes,
  };
}

/** Responds to a poll of the page. */
export async function show(
  { filter, position: known }: z.output<typeof pollSchema>,
  { view, inspection }: OpenConsole,
) {
  const atMs = Date.now();
  const shown = await showHistory(filter, view, inspection?.tokenCount);
  const position = hashText(JSON.stringify(shown));
  return {
    /** What is shown was read not more than a second before. */
    atMs,
    /** Names what is shown: it is the same in all processes that show the same. */
    position,
    process: PROCESS_NAME,
    /** Undefined when nothing has changed since the position of the request. */
    shown: position === known ? undefined : shown,
  };
}
