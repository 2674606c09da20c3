import type { DeadLetterGroup, DeadLetterRow, QueueView } from "../console-view";
import { Button } from "./action";
import { send } from "./api";
import { EmptyState, Pill } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatCount, formatDate, plural } from "./format";
import { Facts, Received, showInvisible } from "./received";
import { linkToSearch } from "./request-details";
import { linkTo, place, useTarget } from "./route";
import { settings } from "./settings";
import { createStore, useStore } from "./store";

type LetterName = Pick<DeadLetterRow, "uuid" | "accountSid" | "receiver">;

/** Dead letters to retry or discard: all, those of one cause, or some. */
type Choice = { all: true } | { error: string } | { letters: readonly LetterName[] };

/** The dead letters that are ticked. */
const selected = createStore<readonly LetterName[]>([]);

interface Reload {
  reload: () => Promise<void>;
}

interface Chosen extends Reload {
  choice: Choice;
  count: number;
  /** Which of them, in the words of a button. */
  what?: string;
}

/** The dead letters of a queue, grouped by error. */
export function DeadLetters({ view, reload }: Reload & { view: QueueView }) {
  const { groups, deadLetters, isCut } = view;
  const letters = useStore(selected);
  if (groups.length === 0) {
    return (
      <EmptyState title="No dead letters.">
        <p>Every event that failed was handled by a later attempt, or is being retried.</p>
      </EmptyState>
    );
  }
  const [what, count, choice]: [string, number, Choice] =
    letters.length > 0
      ? [` selected ${letters.length}`, letters.length, { letters }]
      : [` all ${formatCount(deadLetters)}`, deadLetters, { all: true }];
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <LetterButtons what={what} count={count} choice={choice} reload={reload} />
      </div>
      {isCut && <p class="notice warn">There are more dead letters than are listed here.</p>}
      {groups.map((group) => (
        <LetterGroup key={group.error} {...group} reload={reload} />
      ))}
    </>
  );
}

function LetterGroup({ error, count, letters, reload }: DeadLetterGroup & Reload) {
  const { id } = useStore(place);
  const what = ` these ${formatCount(count)}`;
  return (
    <article class="panel">
      <div class="panel-head">
        <Pill tone="bad">{formatCount(count)}</Pill>
        <h4>
          <Received text={error} />
        </h4>
        {count > 1 && (
          <LetterButtons what={what} count={count} choice={{ error }} reload={reload} />
        )}
      </div>
      <details open={count === 1 || letters.some(({ uuid }) => uuid === id)}>
        <summary>
          {letters.length < count
            ? `The newest ${letters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        {letters.map((letter) => (
          <Letter
            key={`${letter.uuid} ${letter.accountSid} ${letter.receiver}`}
            {...letter}
            reload={reload}
          />
        ))}
      </details>
    </article>
  );
}

function Letter({ reload, ...letter }: DeadLetterRow & Reload) {
  const { uuid, accountSid, receiver, type, entity, attempts } = letter;
  const failedAt = new Date(letter.failedAtMs).toISOString();
  const all = useStore(selected);
  const isSame = (other: LetterName) =>
    other.uuid === uuid && other.accountSid === accountSid && other.receiver === receiver;
  const name: LetterName = { uuid, accountSid, receiver };
  return (
    <div class="letter" {...useTarget(uuid)}>
      <input
        type="checkbox"
        aria-label={`Select ${uuid}`}
        checked={all.some(isSame)}
        onChange={({ currentTarget: { checked } }) =>
          selected.set(checked ? [...all, name] : all.filter((other) => !isSame(other)))
        }
      />
      <div class="text">
        <p>
          {type === undefined ? "unreadable event" : <Received text={type} />}{" "}
          <span class="muted">{entity !== undefined && <Received text={entity} />}</span>
        </p>
        <p>
          <a class="mono" href={linkTo("queue", uuid)}>
            {showInvisible(uuid)}
          </a>{" "}
          <a href={linkToSearch(uuid)}>Requests</a>
        </p>
        <p class="muted">
          {plural(attempts, "attempt")}, the last failed{" "}
          <time dateTime={failedAt}>{formatDate(failedAt)}</time>
        </p>
        <details>
          <summary>Event</summary>
          <Facts
            facts={[
              ["Version", letter.version],
              ["Account", accountSid],
              ["Factor", letter.factorSid],
              ["Challenge", letter.challengeSid],
              ["Receiver", receiver],
              ["Error", letter.error],
              ...letter.revealed,
            ]}
          />
        </details>
      </div>
      <LetterButtons count={1} choice={{ letters: [name] }} reload={reload} />
    </div>
  );
}

function LetterButtons({ what = "", ...chosen }: Chosen) {
  if (settings.readOnly) return null;
  const retry = async () =>
    `${plural(await change("retry", chosen), "event")} will be handled again.`;
  return (
    <div class="buttons">
      <Button run={retry}>Retry{what}</Button>
      <Button class="danger" run={() => openDialog(<DiscardLetters {...chosen} />)}>
        Discard{what}
      </Button>
    </div>
  );
}

function DiscardLetters(chosen: Chosen) {
  const what = plural(chosen.count, "dead letter");
  const submit = async () => `${plural(await change("discard", chosen), "event")} discarded.`;
  const [whose, them] = chosen.count === 1 ? ["Its", "it"] : ["Their", "them"];
  return (
    <Dialog title={`Discard ${what}?`} action={`Discard ${what}`} isDangerous submit={submit}>
      <p>
        {whose} handlers will never run, also not when the service sends {them} again. This cannot
        be undone.
      </p>
    </Dialog>
  );
}

async function change(action: "retry" | "discard", { choice, reload }: Chosen): Promise<number> {
  const { count } = await send<{ count: number }>("POST", `console/dead-letters/${action}`, choice);
  selected.set([]);
  await reload();
  return count;
}
