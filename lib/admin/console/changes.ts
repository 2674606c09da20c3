import type { ReceiverInspection } from "../../core/door";
import type { Changes } from "./console-view";
import { toWaitRow } from "./find-login";
import type { RequestLog } from "./request-log";

/** How many rejections are explained for open pages, without a click, within 60 s. */
const MAX_EXPLANATIONS = 3;
const MAX_WAITS = 20;

/**
 * Creates the function that reads what has changed: after the cursor of an earlier response of this
 * process, of several cursors with a comma between them, or from the beginning. `refresh` starts to
 * bring rows up to date: the next response has them.
 */
export function createChanges(
  log: RequestLog,
  inspection: ReceiverInspection,
  reveals: boolean,
  refresh?: () => Promise<void>,
) {
  let explainedAtMs: number[] = [];

  /** An attacker who sends many requests must not use up the receiver's budget here. */
  function explainNewest(): void {
    const nowMs = performance.now();
    explainedAtMs = explainedAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (explainedAtMs.length < MAX_EXPLANATIONS && log.explainNewest()) explainedAtMs.push(nowMs);
  }

  return function readChanges(after = ""): Changes {
    explainNewest();
    void refresh?.();
    const { owner, change } = log;
    const waits = inspection.listPendingWaits();
    const own = `${owner.id}-`;
    const cursor = after.split(",").find((one) => one.startsWith(own));
    const known = Number(cursor?.slice(own.length) ?? NaN);
    const isComplete = !(known <= change);
    return {
      process: owner,
      cursor: own + change,
      isComplete,
      rows: log.listRows(isComplete ? 0 : known),
      totals: log.readTotals(waits),
      waits: waits.slice(0, MAX_WAITS).map((wait) => toWaitRow(wait, reveals)),
      series: log.readSeries(),
    };
  };
}
