import type { EventTable } from "./event-table";
import type { ClaimedEvent, Operations } from "./protocol";

/** How many events the workers of this process want. */
export interface Demands extends Pick<Operations, "want" | "unwant"> {
  /** Whether a worker wants events. */
  isAny(): boolean;
  /** Claims due events for the workers that want some. */
  claim(): ClaimedEvent[];
  /** Notes that the transaction of a claim was committed. */
  satisfy(claimed: readonly ClaimedEvent[]): void;
}

/** Creates the demands of a process without workers. */
export function createDemands(events: EventTable): Demands {
  const countByWorker = new Map<number, number>();

  function add(worker: number, count: number): void {
    countByWorker.set(worker, (countByWorker.get(worker) ?? 0) + count);
  }

  return {
    want: ({ worker, count }) => add(worker, count),
    unwant: (worker) => void countByWorker.delete(worker),
    isAny: () => [...countByWorker.values()].some((count) => count > 0),
    claim: () =>
      [...countByWorker].flatMap(([worker, count]) =>
        count > 0 ? events.claim(worker, count) : [],
      ),
    satisfy(claimed) {
      for (const { worker } of claimed) add(worker, -1);
    },
  };
}
