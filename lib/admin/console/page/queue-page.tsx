import { useEffect } from "preact/hooks";
import type { QueueView } from "../console-view";
import { ActionButton } from "./action-button";
import { describeProblem, send } from "./api";
import { Cards } from "./cards";
import { DeadLetters } from "./dead-letters";
import { formatAge } from "./format";
import { EmptyState } from "./received";
import { createLoader, useStore } from "./store";

const REFRESH_MS = 5_000;

/** The queue, as it was read last. */
export const queue = createLoader(() => send<QueueView>("GET", "console/queue"));

/** Reads the queue every few milliseconds while a component is shown. */
export function useQueueEvery(ms: number): void {
  useEffect(() => {
    void queue.reload();
    const timer = setInterval(() => void (document.hidden || queue.reload()), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  const { value, error } = useStore(queue.store);
  useQueueEvery(REFRESH_MS);
  return (
    <section aria-labelledby="queue-title">
      <div class="page-head">
        <h2 id="queue-title" tabIndex={-1}>
          Queue
        </h2>
        <div class="buttons">
          <ActionButton label="Refresh" run={() => queue.reload()} />
        </div>
      </div>
      {error !== undefined ? (
        <div class="panel">
          <EmptyState title="The queue could not be read.">
            <p>{describeProblem(error)}</p>
            <p>The page tries again every {REFRESH_MS / 1_000} s.</p>
          </EmptyState>
        </div>
      ) : value === undefined ? (
        <p class="state">Loading.</p>
      ) : (
        <>
          <QueueCards {...value} />
          <DeadLetters view={value} reload={queue.reload} />
        </>
      )}
    </section>
  );
}

function QueueCards({
  waiting,
  oldestWaitingMs,
  active,
  delayed,
  workers,
  deadLetters,
}: QueueView) {
  return (
    <Cards
      label="Events in the queue"
      figures={[
        {
          label: "Waiting",
          count: waiting,
          note:
            oldestWaitingMs === undefined || waiting === 0
              ? ""
              : `the oldest for ${formatAge(oldestWaitingMs)}`,
        },
        { label: "Running", count: active, note: active === 0 ? "" : "handlers run now" },
        { label: "Delayed", count: delayed, note: delayed === 0 ? "" : "will be retried" },
        {
          label: "Workers",
          count: workers,
          note:
            workers === undefined
              ? "unknown"
              : workers === 0
                ? "no process runs handlers"
                : "seen now",
        },
        { label: "Dead letters", count: deadLetters, note: "", tone: "bad" },
      ]}
    />
  );
}
