import type { ConsoleView, RequestFilter, ShownHistory } from "../console-view";
import { announce } from "./action";
import { describeProblem, ProblemError, read, session } from "./api";
import { plural } from "./format";
import { place } from "./route";
import { createLoader } from "./store";

/** How often the page asks for what is new. */
export const POLL_MS = 3_000;

/** What the receiver's page shows. */
interface Reading extends ConsoleView {
  filter: string;
  /** The part of the address that has the filter. */
  query: string;
  shown: ShownHistory;
}

/** The filter that was asked for last. */
let asked: string | undefined;

/** The history of requests, as the filter of the address selects it. */
export const journal = createLoader(async (): Promise<Reading> => {
  const earlier = journal.value;
  const filter = readFilter();
  asked = JSON.stringify(filter);
  const query = place.value.query.toString();
  const known = earlier?.filter === asked ? earlier : undefined;
  const body = { filter, position: known?.position };
  const { shown = known?.shown, ...view } = await read<ConsoleView>("console/view", body);
  if (shown === undefined) throw new ProblemError(0, "", "The server did not say what to show.");
  if (earlier !== undefined) announceBad(earlier.shown, shown);
  return { ...view, filter: JSON.stringify(filter), query, shown };
});

/** Whether the reading is that of the filter in the address. */
export const isCurrent = (): boolean => journal.value?.filter === JSON.stringify(readFilter());

/** Asks at once when the filter in the address has changed. */
export function followFilter(): void {
  if (asked !== undefined && asked !== JSON.stringify(readFilter())) void journal.reload();
}

const countBad = ({ byResult: { rejected, failed } }: ShownHistory["totals"]) => rejected + failed;

function announceBad(earlier: ShownHistory, { totals }: ShownHistory): void {
  const added = countBad(totals) - countBad(earlier.totals);
  if (added > 0 && !document.hidden) announce(`${plural(added, "request")} rejected or failed.`);
}

/** Reads the filter of the address; a time of one number is minutes until now. */
export function readFilter(): RequestFilter {
  const { state, code, type, build, time = "", q = "" } = Object.fromEntries(place.value.query);
  const [first = 0, toMs] = time.split("-").map(Number);
  // In whole minutes: the position of a poll is of one filter.
  const sinceMs = Math.floor(Date.now() / 60_000 - first) * 60_000;
  const period = toMs === undefined ? { fromMs: sinceMs } : { fromMs: first, toMs };
  const text = q.trim() === "" ? undefined : q.trim();
  return { state, code, type, build, text, ...(time !== "" && period) } as RequestFilter;
}

/** Whether the list is up to date, in words; the banner of the page says that a session has ended. */
export function describeConnection(): { look: string; text: string } {
  const { error, atMs } = journal;
  if (session.value.isOver) return { look: "bad", text: "Signed out" };
  if (error === undefined)
    return { look: "good", text: atMs === undefined ? "Connecting" : "Up to date" };
  const isLost = error instanceof ProblemError && error.status === 0;
  return { look: "bad", text: isLost ? "Connection lost, trying again" : describeProblem(error) };
}
