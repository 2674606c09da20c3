import * as z from "zod";
import { hashText } from "../../kit/hash";
import { PROCESS_NAME } from "../../kit/process-name";
import type { History } from "./journal-view";
import type { OpenConsole } from "./open-console";
import type { ConsoleQueue } from "./queue-view";
import {
  describeFailed,
  filterSchema,
  selectFailed,
  selectRows,
  type RequestFilter,
} from "./request-filter";
import { listCauses } from "./rejections";
import { nameEvent } from "./request-row";
import { listBars, sumCounts } from "./totals";

const MAX_ROWS = 200;
const MAX_CLAIMS = 100;

/** The schema of a poll. */
export const pollSchema = z.strictObject({
  filter: filterSchema,
  /** The `position` of an earlier response of any process. */
  position: z.string().max(64).optional(),
  /** The id of the request that is open. */
  id: z.string().max(100).optional(),
});

/** The history of requests, events and changes. */
export type ShownHistory = Awaited<ReturnType<typeof showHistory>>;

async function showHistory(
  { rows, changes, builds, counts, sinceMs }: History,
  filter: RequestFilter,
  { journal, inspection }: OpenConsole,
) {
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
    totals: sumCounts(counts, rows, inspection?.tokenCount),
    bars: listBars(counts),
    builds,
    changes,
  };
}

/** A request, and where its event is in the queue now. */
export type RequestDetails = NonNullable<Awaited<ReturnType<typeof findRequest>>>;

async function findRequest({ rows, steps }: History, id: string, queue: ConsoleQueue | undefined) {
  const row = rows.find((one) => one.id === id);
  if (row === undefined) return null;
  const { uuid = "", accountSid, receiver, isAuthenticated } = row;
  const found = isAuthenticated ? await queue?.find(uuid, { accountSid, receiver }) : undefined;
  return {
    row,
    /** What happened to its event after the request, the oldest first. */
    steps: isAuthenticated ? (steps.get(nameEvent(row)) ?? []) : [],
    queued: found && {
      state: found.state as string,
      attempts: found.attempts,
      /** When its handlers run next, or failed last. */
      atMs: found.at?.getTime(),
    },
  };
}

/** The response to a poll of the page. */
export type ConsoleView = Awaited<ReturnType<typeof show>>;

/** Responds to a poll of the page. */
export async function show(
  { filter, position: known, id }: z.output<typeof pollSchema>,
  opened: OpenConsole,
) {
  const atMs = Date.now();
  const history = await opened.view.read();
  const shown = await showHistory(history, filter, opened);
  const position = hashText(JSON.stringify(shown));
  return {
    /** What is shown was read not more than a second before. */
    atMs,
    /** Names what is shown: it is the same in all processes that show the same. */
    position,
    process: PROCESS_NAME,
    /** Undefined when nothing has changed since the position of the request. */
    shown: position === known ? undefined : shown,
    /** The request that is open; null when it is not in the history any more. */
    open: id === undefined ? undefined : await findRequest(history, id, opened.queue),
  };
}
