import type { DeadLetterGroup, DeadLetterRow, DeadLetterChoice, QueueView } from "../console-view";
import { Writes } from "./action";
import { send, settings } from "./api";
import { Cards, EmptyState, LoadedPage, Notice, Pill, SelectBox, Time } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, plural } from "./format";
import { Facts, Received, showInvisible } from "./received";
import { linkToSearch } from "./request-details";
import { linkTo, place, useTarget } from "./route";
import { createLoader, createStore, useStore } from "./store";

/** The queue, as it was read last. */
export const queue = createLoader(() => send<QueueView>("GET", "console/queue"));

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  return (
    <LoadedPage
      title="Queue"
      loader={queue}
      failed="The queue could not be read."
      refreshMs={5_000}
    >
      {(view) => (
        <>
          <QueueCards {...view} />
          <DeadLetters {...view} />
        </>
      )}
    </LoadedPage>
  );
}

/** Says on each page that nothing handles the events that wait. */
export function IdleQueue() {
  const { waiting = 0, workers } = useStore(queue).value ?? {};
  if (waiting === 0 || workers !== 0) return null;
  return (
    <Notice tone="bad" title={`${plural(waiting, "event")} in the queue, and no worker.`}>
      No process runs their handlers. Start one that calls queue.work().
    </Notice>
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
  const isOld = waiting > 0 && oldestWaitingMs !== undefined;
  return (
    <Cards
      label="Events in the queue"
      figures={[
        ["Waiting", waiting, isOld ? `the oldest for ${formatAge(oldestWaitingMs)}` : ""],
        ["Running", active],
        ["Delayed", delayed],
        ["Workers", workers, workers === 0 ? "no process runs handlers" : ""],
        ["Dead letters", deadLetters, "", "bad"],
      ]}
    />
  );
}

/** The keys of the dead letters that are ticked. */
const selected = createStore<readonly string[]>([]);

const keyOf = ({ uuid, accountSid, receiver }: DeadLetterRow) =>
  [uuid, accountSid, receiver].join(" ");

function choose(deadLetters: readonly DeadLetterRow[]): DeadLetterChoice {
  return {
    deadLetters: deadLetters.map(({ uuid, accountSid, receiver }) => ({
      uuid,
      accountSid,
      receiver,
    })),
  };
}

/** The dead letters, grouped by error. */
function DeadLetters({ groups, deadLetters, isCut, atMs }: QueueView) {
  const keys = useStore(selected);
  const ticked = groups
    .flatMap((group) => group.deadLetters)
    .filter((one) => keys.includes(keyOf(one)));
  if (groups.length === 0) {
    return <EmptyState title="No dead letters." />;
  }
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        {ticked.length > 0 ? (
          <DeadLetterButtons what="selected" count={ticked.length} choice={choose(ticked)} />
        ) : (
          <DeadLetterButtons
            what="all"
            count={deadLetters}
            choice={{ count: deadLetters, untilMs: atMs }}
          />
        )}
      </div>
      {isCut && <p class="notice warn">There are more dead letters than are listed here.</p>}
      {groups.map((group) => (
        <ErrorPanel key={group.error} {...group} />
      ))}
    </>
  );
}

function ErrorPanel({ error, count, deadLetters }: DeadLetterGroup) {
  const { id } = useStore(place);
  return (
    <article class="panel">
      <div class="panel-head">
        <Pill tone="bad">{formatCount(count)}</Pill>
        <h4>
          <Received text={error} />
        </h4>
        {count > 1 && (
          <DeadLetterButtons
            what="these"
            count={count}
            choice={{ error, count, untilMs: deadLetters[0]?.failedAtMs ?? 0 }}
          />
        )}
      </div>
      <details open={count === 1 || deadLetters.some(({ uuid }) => uuid === id)}>
        <summary>
          {deadLetters.length < count
            ? `The newest ${deadLetters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        {deadLetters.map((deadLetter) => (
          <DeadLetterItem key={keyOf(deadLetter)} {...deadLetter} />
        ))}
      </details>
    </article>
  );
}

function DeadLetterItem(deadLetter: DeadLetterRow) {
  const { uuid, type, entity, pseudonym, attempts } = deadLetter;
  const key = keyOf(deadLetter);
  const isSelected = useStore(selected).includes(key);
  return (
    <div class="dead-letter" {...useTarget(uuid)}>
      {!settings.readOnly && (
        <SelectBox ids={selected} id={key} isSelected={isSelected} label={`Select ${uuid}`} />
      )}
      <div class="text">
        <p>
          {type === undefined ? "unreadable event" : <Received text={type} />}{" "}
          <span class="muted">{entity !== undefined && <Received text={entity} />}</span>{" "}
          {pseudonym && <a href={linkToSearch(pseudonym)}>{pseudonym}</a>}
        </p>
        <p>
          <a class="mono" href={linkTo("queue", uuid)}>
            {showInvisible(uuid)}
          </a>{" "}
          <a href={linkToSearch(uuid)}>Requests</a>
        </p>
        <p class="muted">
          {plural(attempts, "attempt")}, the last failed <Time atMs={deadLetter.failedAtMs} />
        </p>
        <details>
          <summary>Event</summary>
          <Facts
            facts={[
              ["Version", deadLetter.version],
              ["Account", deadLetter.accountSid],
              ["Factor", deadLetter.factorSid],
              ["Challenge", deadLetter.challengeSid],
              ["Receiver", deadLetter.receiver],
              ["Error", deadLetter.error],
              ...deadLetter.revealed,
            ]}
          />
        </details>
      </div>
      <DeadLetterButtons count={1} choice={choose([deadLetter])} />
    </div>
  );
}

/** Buttons that retry or discard dead letters; `what` tells which when there are several. */
function DeadLetterButtons(chosen: { choice: DeadLetterChoice; count: number; what?: string }) {
  const { choice, count, what = "" } = chosen;
  const which = what === "" ? "" : ` ${what} ${formatCount(count)}`;
  const deadLetters = plural(count, "dead letter");
  const retry = async () => `${await change("retry", choice)} will be handled again.`;
  const discard = async () => `${await change("discard", choice)} discarded.`;
  const askToRetry = () =>
    openDialog(
      <Dialog title={`Retry ${deadLetters}?`} action={`Retry ${deadLetters}`} submit={retry}>
        <p>The workers run their handlers again, now and once more after each failure.</p>
      </Dialog>,
    );
  const ask = () =>
    openDialog(
      <Dialog
        title={`Discard ${deadLetters}?`}
        action={`Discard ${deadLetters}`}
        isDangerous
        submit={discard}
      >
        <p>
          {count === 1 ? "Its handlers" : "Their handlers"} will never run, also not when the
          service sends the same again. This cannot be undone.
        </p>
      </Dialog>,
    );
  return (
    <div class="buttons">
      <Writes
        actions={[
          [`Retry${which}`, count === 1 ? retry : askToRetry],
          [`Discard${which}`, ask, "danger"],
        ]}
      />
    </div>
  );
}

async function change(action: "retry" | "discard", choice: DeadLetterChoice): Promise<string> {
  const { count } = await send<{ count: number }>("POST", `console/dead-letters/${action}`, choice);
  selected.set([]);
  await queue.reload();
  return plural(count, "event");
}
