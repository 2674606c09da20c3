import * as z from "zod";
import type { ReceiverInspection } from "../../core/door";
import { hashText } from "../../kit/hash";
import type { ConsoleView, RequestFilter, ShownHistory, ViewRequest } from "./console-view";
import type { JournalView } from "./journal-view";
import { describeFailed, filterSchema, selectFailed, selectRows } from "./request-filter";
import { listCauses } from "./rejections";
import { listMinutes, sumCounts } from "./totals";

const MAX_ROWS = 200;

/** The schema of {@link ViewRequest}. */
export const viewSchema = z.strictObject({
  filter: filterSchema,
  position: z.string().max(64).optional(),
});

/** Creates the function that responds to the polls of the page. */
export function createShow(
  view: JournalView,
  inspection: ReceiverInspection | undefined,
  processName: string,
) {
  async function showHistory(filter: RequestFilter): Promise<ShownHistory> {
    const { journal } = view;
    const { rows, changes, builds, counts, sinceMs } = await view.read();
    const { text = "" } = filter;
    const person = text === "" ? undefined : await journal.createPseudonym(text.trim());
    const found = selectRows(rows, filter, person);
    return {
      isShared: journal.isShared,
      sinceMs,
      dropped: counts.reduce((sum, { name, count }) => sum + (name === "dropped" ? count : 0), 0),
      rows: found.slice(0, MAX_ROWS),
      found: found.length,
      failed: describeFailed(selectFailed(found, rows)),
      causes: listCauses(rows),
      totals: sumCounts(counts, rows, inspection?.tokenCount),
      minutes: listMinutes(counts, Date.now()),
      builds,
      changes,
    };
  }

  return async function show({ filter, position: known }: ViewRequest): Promise<ConsoleView> {
    const atMs = Date.now();
    const shown = await showHistory(filter);
    const position = hashText(JSON.stringify(shown));
    return {
      atMs,
      position,
      process: processName,
      shown: position === known ? undefined : shown,
    };
  };
}
