import { useState } from "preact/hooks";
import type { DeadLetterChoice } from "../dead-letter-choice";
import type { LoginSearch } from "../find-login";
import type { DeadLetterGroup, DeadLetterRow, QueueView } from "../queue-view";
import { WriteButton } from "./action";
import { ActionDialog, runAndDescribe } from "./action-dialog";
import { read } from "./api";
import { Cards, type Figure, LoadedPage, LoadedValue, Notice, Pill, Time } from "./blocks";
import { Changes } from "./changes";
import { openDialog } from "./dialog";
import { formatAge, formatCount, formatDate, plural } from "./format";
import { journal } from "./journal";
import { Fact, Received, RequestsLink } from "./received";
import { linkTo, linkToRequests, place, useTarget } from "./route";
import { Loader } from "./store";

const RATE_MS = 60_000;
/** How many errors a dialog names. */
const MAX_NAMED = 10;
/** How many events waited in the last minute, each time that it was read. */
let lengths: readonly Pick<QueueView, "atMs" | "waiting">[] = [];

/** The queue, as it was read last. */
export const queue = new Loader(async () => {
  const view = await read<QueueView>("console/queue");
  lengths = [...lengths.filter(({ atMs }) => view.atMs - atMs < RATE_MS), view];
  return view;
});

/** The page of the queue: its counts and its dead letters. */
export function QueuePage() {
  return (
    <LoadedPage title="Queue" loader={queue}>
      {({ active, delayed, workers, hold, ...view }) => [
        <Cards
          label="Events in the queue"
          of={{
            ...listFigures(),
            Running: { count: active },
            Delayed: { count: delayed },
            Workers: { count: workers, note: workers === 0 ? "no process runs handlers" : hold },
          }}
        />,
        <Changes of={["dead-letter", "request.resend"]} />,
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

/** The figures of the queue that an on-call engineer watches. */
export function listFigures(): Record<string, Figure> {
  const { waiting, deadLetters } = queue.value ?? {};
  return {
    Waiting: { count: waiting, note: describeWaiting() },
    "Dead letters": { count: deadLetters, isBad: true },
  };
}

/** Says for how long the oldest event has waited, and when none will wait, as in the last minute. */
function describeWaiting(): string {
  const { waiting = 0, oldestWaitingMs = 0, atMs = 0 } = queue.value ?? {};
  if (waiting === 0) return "no event waits";
  const age = `the oldest for ${formatAge(oldestWaitingMs)}`;
  const [first = { atMs, waiting }] = lengths;
  const fewer = first.waiting - waiting;
  if (fewer <= 0) return age;
  return `${age}; empty in about ${formatAge(((atMs - first.atMs) * waiting) / fewer)}`;
}

type DeadLettersProps = Pick<QueueView, "groups" | "deadLetters" | "atMs">;

function DeadLetters({ groups, deadLetters, atMs }: DeadLettersProps) {
  if (groups.length === 0) return <p class="panel state">No dead letters.</p>;
  const { id } = place.value;
  const isListed = groups.some((group) => group.deadLetters.some(({ uuid }) => uuid === id));
  const others = groups.reduce((left, { count }) => left - count, deadLetters);
  return (
    <>
      {id && !isListed && <Linked key={`${id} ${deadLetters}`} uuid={id} />}
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <DeadLetterButtons
          what="all"
          choice={{ count: deadLetters, untilMs: atMs }}
          of={groups.slice(0, MAX_NAMED).map(describeGroup).join("; ")}
        />
      </div>
      {groups.map((group) => (
        <ErrorPanel key={group.error} {...group} />
      ))}
      {others > 0 && <p class="state">{formatCount(others)} more with other errors.</p>}
    </>
  );
}

/** The dead letter of a link, when it is not among the newest of its error. */
function Linked({ uuid }: { uuid: string }) {
  const search = () => read<LoginSearch>("console/search", { text: uuid });
  const [loader] = useState(() => new Loader(search));
  return (
    <LoadedValue loader={loader} what="event">
      {({ deadLetters: [found] }) => (
        <div class="panel">
          {found ? <DeadLetter {...found} /> : <p class="state">It is no dead letter.</p>}
        </div>
      )}
    </LoadedValue>
  );
}

/** Names the error, the users and the times of dead letters. */
const describeGroup = ({ error, count, users, firstAtMs, lastAtMs }: DeadLetterGroup) =>
  `${formatCount(count)} × ${error}, of ${plural(users, "user")}, ${formatDate(firstAtMs)} to ${formatDate(lastAtMs)}`;

function ErrorPanel(group: DeadLetterGroup) {
  const { error, count, users, firstAtMs, lastAtMs, deadLetters } = group;
  const { id } = place.value;
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
          <DeadLetterButtons
            what="these"
            choice={{ error, count, untilMs: lastAtMs }}
            of={describeGroup(group)}
          />
        )}
      </div>
      <details open={count === 1 || deadLetters.some(({ uuid }) => uuid === id)}>
        <summary>
          {deadLetters.length < count
            ? `The newest ${deadLetters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        {deadLetters.map((one) => (
          <DeadLetter key={[one.uuid, one.accountSid, one.receiver].join()} {...one} of={error} />
        ))}
      </details>
    </article>
  );
}

function DeadLetter({ of, ...deadLetter }: DeadLetterRow & { of?: string }) {
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
          <a href={linkTo("queue", uuid)}>
            <Received text={uuid} class="mono" />
          </a>{" "}
          <a href={linkToRequests({ q: uuid })}>Requests</a>
        </p>
        <p class="muted">
          {plural(attempts, "attempt")}, the last failed <Time atMs={deadLetter.failedAtMs} />
        </p>
        <details>
          <summary>Event</summary>
          <dl class="facts">
            <Fact name="Version">{deadLetter.version}</Fact>
            <Fact name="Account">{accountSid}</Fact>
            <Fact name="Factor">{deadLetter.factorSid}</Fact>
            <Fact name="Challenge">{deadLetter.challengeSid}</Fact>
            <Fact name="Receiver">{receiver}</Fact>
            <Fact name="Error">{deadLetter.error}</Fact>
            {deadLetter.revealed.map(([name, value]) => (
              <Fact name={name}>{value}</Fact>
            ))}
          </dl>
        </details>
      </div>
      <DeadLetterButtons choice={{ uuid, accountSid, receiver }} of={of} />
    </div>
  );
}

interface Chosen {
  choice: DeadLetterChoice;
  /** Tells which when there are several. */
  what?: string;
  /** Their errors. */
  of?: string | undefined;
}

const RETRY = {
  label: "Retry",
  path: "console/dead-letters/retry",
  done: "will be handled again",
  text: "The workers run their handlers again, now and once more after each failure.",
};
const DISCARD = {
  label: "Discard",
  path: "console/dead-letters/discard",
  done: "discarded",
  text: "Their handlers will never run, also not when the service sends the same again. This cannot be undone.",
};

const finish = () => Promise.all([queue.reload(), journal.reload()]);

/** Buttons that retry or discard dead letters. */
function DeadLetterButtons({ choice, what, of }: Chosen) {
  const count = "count" in choice ? choice.count : 1;
  const which = what === undefined ? "" : ` ${what} ${formatCount(count)}`;
  const ask = ({ label, text, ...action }: typeof RETRY, isDangerous = false) =>
    openDialog(
      <ActionDialog
        label={`${label} ${plural(count, "dead letter")}`}
        isDangerous={isDangerous}
        action={{ ...action, choice, finish }}
        count={count}
      >
        <p>{of !== undefined && <Received text={of} />}</p>
        <p>{text}</p>
      </ActionDialog>,
    );
  const retry = () =>
    what === undefined ? runAndDescribe({ ...RETRY, choice, finish }) : ask(RETRY);
  return (
    <div class="buttons">
      <WriteButton label={`Retry${which}`} run={retry} />
      <WriteButton label={`Discard${which}`} class="danger" run={() => ask(DISCARD, true)} />
    </div>
  );
}
