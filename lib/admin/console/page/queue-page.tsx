import type { DeadLetterGroup, DeadLetterRow, DeadLetterChoice, QueueView } from "../console-view";
import { WriteButton } from "./action";
import { ActionDialog, runAndDescribe } from "./action-dialog";
import { read } from "./api";
import { Cards, LoadedPage, Notice, Pill, Time } from "./blocks";
import { Changes } from "./changes";
import { openDialog } from "./dialog";
import { formatAge, formatCount, plural } from "./format";
import { journal } from "./journal";
import { Facts, Received, RequestsLink, showInvisible } from "./received";
import { linkTo, linkToRequests, place, useTarget } from "./route";
import { createLoader } from "./store";

const RATE_MS = 60_000;
/** How many events waited in the last minute, each time that it was read. */
let lengths: readonly Pick<QueueView, "atMs" | "waiting">[] = [];

/** The queue, as it was read last. */
export const queue = createLoader(async () => {
  const view = await read<QueueView>("console/queue");
  lengths = [...lengths.filter(({ atMs }) => view.atMs - atMs < RATE_MS), view];
  return view;
});

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  return (
    <LoadedPage title="Queue" loader={queue} refreshMs={5_000}>
      {(view) => [
        <QueueCards {...view} />,
        <Changes of={["dead-letter", "request.resend", "user-data"]} />,
        <DeadLetters {...view} />,
      ]}
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

/** Says for how long the oldest event has waited, and when none will wait, as in the last minute. */
export function describeWaiting(): string {
  const { waiting = 0, oldestWaitingMs = 0, atMs = 0 } = queue.value ?? {};
  if (waiting === 0) return "no event waits";
  const age = `the oldest for ${formatAge(oldestWaitingMs)}`;
  const [first = { atMs, waiting }] = lengths;
  const fewer = first.waiting - waiting;
  if (fewer <= 0) return age;
  return `${age}; empty in about ${formatAge(((atMs - first.atMs) * waiting) / fewer)}`;
}

function QueueCards(view: QueueView) {
  const { waiting, active, delayed, workers, deadLetters, hold } = view;
  return (
    <Cards
      label="Events in the queue"
      of={{
        Waiting: { count: waiting, note: describeWaiting() },
        Running: { count: active },
        Delayed: { count: delayed },
        Workers: { count: workers, note: workers === 0 ? "no process runs handlers" : hold },
        "Dead letters": { count: deadLetters, tone: "bad" },
      }}
    />
  );
}

const nameOf = ({ uuid, accountSid, receiver }: DeadLetterRow) =>
  [uuid, accountSid, receiver].join();

function DeadLetters({ groups, deadLetters, atMs }: QueueView) {
  if (groups.length === 0) return <p class="panel state">No dead letters.</p>;
  const choice = { count: deadLetters, untilMs: atMs };
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <DeadLetterButtons what="all" count={deadLetters} choice={choice} />
      </div>
      {groups.map((group) => (
        <ErrorPanel key={group.error} {...group} />
      ))}
    </>
  );
}

function ErrorPanel(group: DeadLetterGroup) {
  const { error, count, users, firstAtMs, lastAtMs, deadLetters } = group;
  const { id } = place.value;
  const choice = { error, count, untilMs: lastAtMs };
  return (
    <article class="panel">
      <div class="panel-head">
        <Pill tone="bad">{formatCount(count)}</Pill>
        <h4>
          <Received text={error} />{" "}
          <small>
            of {plural(users, "user")}, the first <Time atMs={firstAtMs} />, the last{" "}
            <Time atMs={lastAtMs} />
          </small>
        </h4>
        {count > 1 && (
          <DeadLetterButtons what="these" count={count} choice={choice} error={error} />
        )}
      </div>
      <details open={count === 1 || deadLetters.some(({ uuid }) => uuid === id)}>
        <summary>
          {deadLetters.length < count
            ? `The newest ${deadLetters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        {deadLetters.map((deadLetter) => (
          <DeadLetterItem key={nameOf(deadLetter)} {...deadLetter} cause={error} />
        ))}
      </details>
    </article>
  );
}

function DeadLetterItem({ cause, ...deadLetter }: DeadLetterRow & { cause: string }) {
  const { uuid, accountSid, receiver, type, entity, person, attempts } = deadLetter;
  return (
    <div class="dead-letter" {...useTarget(uuid)}>
      <div class="text">
        <p>
          {type === undefined ? "unreadable event" : <Received text={type} />}{" "}
          <span class="muted">{entity !== undefined && <Received text={entity} />}</span>{" "}
          {person && <RequestsLink q={person} />}
        </p>
        <p>
          <a class="mono" href={linkTo("queue", uuid)}>
            {showInvisible(uuid)}
          </a>{" "}
          <a href={linkToRequests({ q: uuid })}>Requests</a>
        </p>
        <p class="muted">
          {plural(attempts, "attempt")}, the last failed <Time atMs={deadLetter.failedAtMs} />
        </p>
        <details>
          <summary>Event</summary>
          <Facts
            of={{
              Version: deadLetter.version,
              Account: accountSid,
              Factor: deadLetter.factorSid,
              Challenge: deadLetter.challengeSid,
              Receiver: receiver,
              Error: deadLetter.error,
              ...Object.fromEntries(deadLetter.revealed),
            }}
          />
        </details>
      </div>
      <DeadLetterButtons
        count={1}
        choice={{ deadLetters: [{ uuid, accountSid, receiver }] }}
        error={cause}
      />
    </div>
  );
}

/** Which dead letters to change, and what a dialog says of them. */
interface Chosen {
  choice: DeadLetterChoice;
  count: number;
  /** Tells which when there are several. */
  what?: string;
  /** The error that they have in common. */
  error?: string;
}

/** Buttons that retry or discard dead letters. */
function DeadLetterButtons(chosen: Chosen) {
  const { choice, count, what = "" } = chosen;
  const which = what === "" ? "" : ` ${what} ${formatCount(count)}`;
  const ask = (action: "retry" | "discard") => () =>
    openDialog(<ChangeDialog {...chosen} action={action} />);
  const { done } = CHANGES.retry;
  const retry = () =>
    runAndDescribe("console/dead-letters/retry", choice, done).finally(() => void queue.reload());
  return (
    <div class="buttons">
      <WriteButton label={`Retry${which}`} run={count === 1 ? retry : ask("retry")} />
      <WriteButton label={`Discard${which}`} class="danger" run={ask("discard")} />
    </div>
  );
}

const CHANGES = {
  retry: {
    label: "Retry",
    text: "The workers run their handlers again, now and once more after each failure.",
    done: "will be handled again",
  },
  discard: {
    label: "Discard",
    text: "Their handlers will never run, also not when the service sends the same again. This cannot be undone.",
    done: "discarded",
  },
};

function ChangeDialog({ choice, count, error, action }: Chosen & { action: keyof typeof CHANGES }) {
  const { label, text, done } = CHANGES[action];
  const group = queue.value?.groups.find((one) => one.error === error);
  return (
    <ActionDialog
      action={`${label} ${plural(count, "dead letter")}`}
      isDangerous={action === "discard"}
      path={`console/dead-letters/${action}`}
      choice={choice}
      count={count}
      done={done}
      finish={() => Promise.all([queue.reload(), journal.reload()])}
    >
      {error !== undefined && (
        <p>
          <Received text={error} />
          {group !== undefined && count > 1 && `, of ${plural(group.users, "user")}`}
        </p>
      )}
      <p>{text}</p>
    </ActionDialog>
  );
}
