import type { RequestFilter } from "../request-filter";
import type { ConsoleView, ShownHistory } from "../shown-history";
import { read } from "./api";
import { place } from "./route";
import { Loader } from "./store";

/** How often the page asks for what is new. */
export const POLL_MS = 3_000;

/** What the receiver's page shows. */
interface Reading extends Omit<ConsoleView, "shown"> {
  filter: RequestFilter;
  /** The part of the address that has the filter. */
  query: string;
  /** The request of the address. */
  id: string | undefined;
  shown: ShownHistory;
}

/** The history of requests, as the filter of the address selects it. */
export const journal: Loader<Reading> = new Loader(async () => {
  const filter = readFilter();
  const { id, query } = place.value;
  const earlier = journal.value;
  const isSame = JSON.stringify(filter) === JSON.stringify(earlier?.filter);
  const known = isSame ? earlier : undefined;
  const { position } = known ?? {};
  const view = await read<ConsoleView>("console/view", { filter, position, id });
  // It has none when nothing has changed.
  const shown = (view.shown ?? known?.shown) as ShownHistory;
  return { ...view, shown, filter, query: query.toString(), id };
});

/** Reads the filter of the address; a time of one number is minutes until now. */
function readFilter(): RequestFilter {
  const { state, code, type, build, time = "", q = "" } = Object.fromEntries(place.value.query);
  const [first = 0, toMs] = time.split("-").map(Number);
  // In whole minutes: the position of a poll is of one filter.
  const sinceMs = Math.floor(Date.now() / 60_000 - first) * 60_000;
  const period = toMs === undefined ? { fromMs: sinceMs } : { fromMs: first, toMs };
  const text = q.trim() === "" ? undefined : q.trim();
  return { state, code, type, build, text, ...(time !== "" && period) } as RequestFilter;
}
