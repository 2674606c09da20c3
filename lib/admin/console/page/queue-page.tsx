import type { DeadLetterGroup, DeadLetterRow, DeadLetterChoice, QueueView } from "../console-view";
import { WriteButton } from "./action";
import { send } from "./api";
import { Cards, LoadedPage, Notice, Pill, SelectBox, Time } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, plural } from "./format";
import { Facts, Received, showInvisible } from "./received";
import { linkTo, linkToRequests, place, useTarget } from "./route";
import { createLoader, createStore } from "./store";

/** The queue, as it was read last. */
export const queue = createLoader(() => send<QueueView>("GET", "console/queue"));

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  return (
    <LoadedPage title="Queue" loader={queue} refreshMs={5_000}>
      {(view) => [<QueueCards {...view} />, <DeadLetters {...view} />]}
    </LoadedPage>
  );
}

/** Says on each page that nothing handles the events that wait. */
export function IdleQueue() {
  const { waiting = 0, workers, hold } = queue.value ?? {};
  if (hold === "paused") {
    return (
      <Notice tone="bad" title="The queue is paused.">
        No worker takes events. Resume it where it was paused, such as in bull-board.
      </Notice>
    );
  }
  if (waiting === 0 || workers !== 0) return null;
  return (
    <Notice tone="bad" title={`${plural(waiting, "event")} in the queue, and no worker.`}>
      No process runs their handlers. Start one that calls queue.work().
    </Notice>
  );
}

function QueueCards(view: QueueView) {
  const { waiting, oldestWaitingMs = 0, active, delayed, workers, deadLetters, hold } = view;
  const age = waiting > 0 && oldestWaitingMs > 0 && `the oldest for ${formatAge(oldestWaitingMs)}`;
  return (
    <Cards
      label="Events in the queue"
      of={{
        Waiting: { count: waiting, note: age },
        Running: { count: active },
        Delayed: { count: delayed },
        Workers: { count: workers, note: workers === 0 ? "no process runs handlers" : hold },
        "Dead letters": { count: deadLetters, tone: "bad" },
      }}
    />
  );
}

const selected = createStore<readonly string[]>([]);

const nameOf = ({ uuid, accountSid, receiver }: DeadLetterRow) =>
  JSON.stringify({ uuid, accountSid, receiver });

const choose = (names: readonly string[]): DeadLetterChoice => ({
  deadLetters: names.map((name) => JSON.parse(name) as DeadLetterRow),
});

function DeadLetters({ groups, deadLetters, isCut, atMs }: QueueView) {
  const names = groups.flatMap((group) => group.deadLetters.map(nameOf));
  const ticked = names.filter((name) => selected.value.includes(name));
  if (groups.length === 0) return <p class="panel state">No dead letters.</p>;
  const some = { what: "selected", count: ticked.length, choice: choose(ticked) };
  const all = { what: "all", count: deadLetters, choice: { count: deadLetters, untilMs: atMs } };
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <DeadLetterButtons {...(ticked.length > 0 ? some : all)} />
      </div>
      {isCut && <p class="notice warn">There are more dead letters than are listed here.</p>}
      {groups.map((group) => (
        <ErrorPanel key={group.error} {...group} />
      ))}
    </>
  );
}

function ErrorPanel({ error, count, deadLetters }: DeadLetterGroup) {
  const { id } = place.value;
  const choice = { error, count, untilMs: deadLetters[0]?.failedAtMs ?? 0 };
  return (
    <article class="panel">
      <div class="panel-head">
        <Pill tone="bad">{formatCount(count)}</Pill>
        <h4>
          <Received text={error} />
        </h4>
        {count > 1 && <DeadLetterButtons what="these" count={count} choice={choice} />}
      </div>
      <details open={count === 1 || deadLetters.some(({ uuid }) => uuid === id)}>
        <summary>
          {deadLetters.length < count
            ? `The newest ${deadLetters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        {deadLetters.map((deadLetter) => (
          <DeadLetterItem key={nameOf(deadLetter)} {...deadLetter} />
        ))}
      </details>
    </article>
  );
}

function DeadLetterItem(deadLetter: DeadLetterRow) {
  const { uuid, type, entity, pseudonym, attempts } = deadLetter;
  const name = nameOf(deadLetter);
  return (
    <div class="dead-letter" {...useTarget(uuid)}>
      <SelectBox selected={selected} ids={[name]} label={`Select ${uuid}`} />
      <div class="text">
        <p>
          {type === undefined ? "unreadable event" : <Received text={type} />}{" "}
          <span class="muted">{entity !== undefined && <Received text={entity} />}</span>{" "}
          {pseudonym && <a href={linkToRequests(pseudonym)}>{pseudonym}</a>}
        </p>
        <p>
          <a class="mono" href={linkTo("queue", uuid)}>
            {showInvisible(uuid)}
          </a>{" "}
          <a href={linkToRequests(uuid)}>Requests</a>
        </p>
        <p class="muted">
          {plural(attempts, "attempt")}, the last failed <Time atMs={deadLetter.failedAtMs} />
        </p>
        <details>
          <summary>Event</summary>
          <Facts
            of={{
              Version: deadLetter.version,
              Account: deadLetter.accountSid,
              Factor: deadLetter.factorSid,
              Challenge: deadLetter.challengeSid,
              Receiver: deadLetter.receiver,
              Error: deadLetter.error,
              ...Object.fromEntries(deadLetter.revealed),
            }}
          />
        </details>
      </div>
      <DeadLetterButtons count={1} choice={choose([name])} />
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
      <Dialog action={`Retry ${deadLetters}`} submit={retry}>
        <p>The workers run their handlers again, now and once more after each failure.</p>
      </Dialog>,
    );
  const askToDiscard = () =>
    openDialog(
      <Dialog action={`Discard ${deadLetters}`} isDangerous submit={discard}>
        <p>
          No handler of {count === 1 ? "it" : "them"} will ever run, also not when the service sends
          the same again. This cannot be undone.
        </p>
      </Dialog>,
    );
  return (
    <div class="buttons">
      <WriteButton label={`Retry${which}`} run={count === 1 ? retry : askToRetry} />
      <WriteButton label={`Discard${which}`} class="danger" run={askToDiscard} />
    </div>
  );
}

async function change(action: "retry" | "discard", choice: DeadLetterChoice): Promise<string> {
  const { count } = await send<{ count: number }>("POST", `console/dead-letters/${action}`, choice);
  selected.value = [];
  await queue.reload();
  return plural(count, "event");
}
