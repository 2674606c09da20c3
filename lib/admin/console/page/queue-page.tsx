import { useState } from "preact/hooks";
import type { DeadLetterGroup, DeadLetterRow, DeadLetterChoice, QueueView } from "../console-view";
import { WriteButton } from "./action";
import { send } from "./api";
import { Cards, LoadedPage, Notice, Pill, Time } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, plural } from "./format";
import { Facts, Received, showInvisible } from "./received";
import { linkTo, linkToRequests, place, useTarget } from "./route";
import { createLoader } from "./store";

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

const nameOf = ({ uuid, accountSid, receiver }: DeadLetterRow) =>
  [uuid, accountSid, receiver].join();

function DeadLetters({ groups, deadLetters, isCut, atMs }: QueueView) {
  if (groups.length === 0) return <p class="panel state">No dead letters.</p>;
  const choice = { count: deadLetters, untilMs: atMs };
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <DeadLetterButtons what="all" count={deadLetters} choice={choice} />
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
  const { uuid, accountSid, receiver, type, entity, pseudonym, attempts } = deadLetter;
  return (
    <div class="dead-letter" {...useTarget(uuid)}>
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
  const retry = () => change("retry", choice);
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
  const [done, setDone] = useState(0);
  const { label, text } = CHANGES[action];
  return (
    <Dialog
      action={`${label} ${plural(count, "dead letter")}`}
      isDangerous={action === "discard"}
      progress={{ done, of: count }}
      submit={(_data, stop) => change(action, choice, stop, setDone)}
    >
      {error !== undefined && (
        <p>
          <Received text={error} />
        </p>
      )}
      <p>{text}</p>
    </Dialog>
  );
}

/** How many are changed by one request: between two, the action can be stopped. */
const BATCH = 100;

async function change(
  action: keyof typeof CHANGES,
  choice: DeadLetterChoice,
  stop?: AbortSignal,
  report?: (done: number) => void,
): Promise<string> {
  const total = "count" in choice ? choice.count : choice.deadLetters.length;
  let changed = 0;
  let asked = 0;
  try {
    while (asked < total) {
      if (stop?.aborted === true) break;
      const next = Math.min(asked + BATCH, total);
      const part = "count" in choice ? { ...choice, count: next - asked } : choice;
      const path = `console/dead-letters/${action}`;
      changed += (await send<{ count: number }>("POST", path, part)).count;
      asked = next;
      report?.(asked);
    }
  } finally {
    await queue.reload();
  }
  const stopped =
    asked < total ? `Stopped after ${formatCount(asked)} of ${formatCount(total)}: ` : "";
  return `${stopped}${plural(changed, "event")} ${CHANGES[action].done}.`;
}
