import type { OutcomeTable } from "./outcome-table";
import type { Operations, FileOutcomeRow } from "./protocol";

/** The outcomes that waits of this process are for. */
export interface WatchedOutcomes extends Pick<Operations, "watch" | "unwatch"> {
  /** Whether there are any. */
  isAny(): boolean;
  /** Reads those that were stored since the last read. */
  readNew(): FileOutcomeRow[];
}

/** Creates the watched outcomes of a process without waits. */
export function createWatchedOutcomes(outcomes: OutcomeTable): WatchedOutcomes {
  const keys = new Set<string>();
  return {
    watch(key) {
      if (keys.size === 0) outcomes.skipOld();
      keys.add(key);
      return outcomes.read(key);
    },
    unwatch: (key) => void keys.delete(key),
    isAny: () => keys.size > 0,
    readNew: () => (keys.size === 0 ? [] : outcomes.readNew().filter(({ key }) => keys.has(key))),
  };
}
