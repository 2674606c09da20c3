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
  const { position, shown: earlier } = journal.value ?? {};
  const view = await read<ConsoleView>("console/view", { filter, position, id });
  // It has none when that is the same.
  const shown = (view.shown ?? earlier) as ShownHistory;
  return { ...view, shown, filter, query: query.toString(), id };
});

/** Reads the filter of the address; a time of one number is minutes until now. */
function readFilter(): RequestFilter {
  const { state, code, type, build, time = "", q = "" } = Object.fromEntries(place.value.query);
  const [first = 0, toMs] = time.split("-").map(Number);
  const sinceMs = Date.now() - first * 60_000;
  const period = toMs === undefined ? { fromMs: sinceMs } : { fromMs: first, toMs };
  return { state, code, type, build, text: q.trim(), ...(time !== "" && period) } as RequestFilter;
}
