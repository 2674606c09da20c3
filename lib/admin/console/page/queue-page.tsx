import type { QueueView } from "../console-view";
import { send } from "./api";
import { Cards, LoadedBlock, Section } from "./blocks";
import { DeadLetters } from "./dead-letters";
import { formatAge } from "./format";
import { createLoader, useEvery } from "./store";

const REFRESH_MS = 5_000;

/** The queue, as it was read last. */
export const queue = createLoader(() => send<QueueView>("GET", "console/queue"));

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  useEvery(REFRESH_MS, queue.reload);
  return (
    <Section title="Queue" loader={queue}>
      <LoadedBlock loader={queue} failed={() => "The queue could not be read."}>
        {(view) => (
          <>
            <QueueCards {...view} />
            <DeadLetters view={view} reload={queue.reload} />
          </>
        )}
      </LoadedBlock>
    </Section>
  );
}

function QueueCards(view: QueueView) {
  const { waiting, oldestWaitingMs, active, delayed, workers } = view;
  const oldest = oldestWaitingMs !== undefined && `the oldest for ${formatAge(oldestWaitingMs)}`;
  const seen = workers === 0 ? "no process runs handlers" : "seen now";
  return (
    <Cards
      label="Events in the queue"
      figures={[
        ["Waiting", waiting, waiting > 0 && oldest !== false ? oldest : ""],
        ["Running", active, active > 0 ? "handlers run now" : ""],
        ["Delayed", delayed, delayed > 0 ? "will be retried" : ""],
        ["Workers", workers, workers === undefined ? "unknown" : seen],
        ["Dead letters", view.deadLetters, "", "bad"],
      ]}
    />
  );
}
