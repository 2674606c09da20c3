import type { DeadLetterGroup, DeadLetterRow, QueueView } from "../console-view";
import { ActionButton } from "./action-button";
import { send } from "./api";
import { Dialog, openDialog } from "./dialog";
import { formatCount, formatDate, plural } from "./format";
import { EmptyState, Facts, Received } from "./received";
import { settings } from "./settings";

/** Dead letters to retry or discard: one, those with an error, or all. */
type Choice =
  { all: true } | { error: string } | { uuid: string; accountSid: string; receiver?: string };

interface DeadLettersProps {
  reload: () => Promise<void>;
}

/** The dead letters of a queue, grouped by error. */
export function DeadLetters({ view, reload }: DeadLettersProps & { view: QueueView }) {
  const { groups, deadLetters, isCut } = view;
  if (groups.length === 0) {
    return (
      <div class="panel">
        <EmptyState title="No dead letters.">
          <p>Every event that failed was handled by a later attempt, or is being retried.</p>
        </EmptyState>
      </div>
    );
  }
  return (
    <>
      <div class="page-head">
        <h3>Dead letters by error</h3>
        <LetterButtons
          what={` all ${formatCount(deadLetters)}`}
          count={deadLetters}
          choice={{ all: true }}
          reload={reload}
        />
      </div>
      {isCut && <p class="notice warn">There are more dead letters than are listed here.</p>}
      {groups.map((group) => (
        <LetterGroup key={group.error} {...group} reload={reload} />
      ))}
    </>
  );
}

function LetterGroup({ error, count, letters, reload }: DeadLetterGroup & DeadLettersProps) {
  return (
    <article class="panel">
      <div class="panel-head">
        <span class="pill bad" aria-hidden="true">
          {formatCount(count)}
        </span>
        <h4>
          <Received text={error} />
        </h4>
        {count > 1 && (
          <LetterButtons
            what={` these ${formatCount(count)}`}
            count={count}
            choice={{ error }}
            reload={reload}
          />
        )}
      </div>
      <details open={count === 1}>
        <summary>
          {letters.length < count
            ? `The newest ${letters.length} of ${formatCount(count)}`
            : plural(count, "event")}
        </summary>
        <ul>
          {letters.map((letter) => (
            <Letter
              key={`${letter.uuid} ${letter.accountSid} ${letter.receiver}`}
              {...letter}
              reload={reload}
            />
          ))}
        </ul>
      </details>
    </article>
  );
}

function Letter({ reload, ...letter }: DeadLetterRow & DeadLettersProps) {
  const { uuid, accountSid, receiver, type, entity, attempts } = letter;
  const failedAt = new Date(letter.failedAtMs).toISOString();
  const choice = { uuid, accountSid, ...(receiver !== undefined && { receiver }) };
  return (
    <li class="letter">
      <div class="text">
        <p>
          {type === undefined ? "unreadable event" : <Received text={type} />}{" "}
          <span class="muted">{entity !== undefined && <Received text={entity} />}</span>
        </p>
        <p class="muted">
          <Received text={uuid} mono />
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
              ...letter.revealed,
            ]}
          />
        </details>
      </div>
      <LetterButtons what="" count={1} choice={choice} reload={reload} />
    </li>
  );
}

function LetterButtons(props: DeadLettersProps & { what: string; count: number; choice: Choice }) {
  if (settings.readOnly) return null;
  async function retry(): Promise<string> {
    const count = await change("retry", props);
    return `${plural(count, "event")} will be handled again.`;
  }
  return (
    <div class="buttons">
      <ActionButton label={`Retry${props.what}`} run={retry} />
      <button
        type="button"
        class="danger"
        onClick={() => openDialog(<DiscardLetters {...props} />)}
      >
        Discard{props.what}
      </button>
    </div>
  );
}

function DiscardLetters(props: DeadLettersProps & { count: number; choice: Choice }) {
  const what = plural(props.count, "dead letter");
  async function submit(): Promise<string> {
    return `${plural(await change("discard", props), "event")} discarded.`;
  }
  return (
    <Dialog title={`Discard ${what}?`} action={`Discard ${what}`} isDangerous submit={submit}>
      <p>
        {props.count === 1
          ? "Its handlers will never run, also not when the service sends it again. This cannot be undone."
          : "Their handlers will never run, also not when the service sends them again. This cannot be undone."}
      </p>
    </Dialog>
  );
}

async function change(
  action: "retry" | "discard",
  { choice, reload }: DeadLettersProps & { choice: Choice },
) {
  const { count } = await send<{ count: number }>("POST", `console/dead-letters/${action}`, choice);
  await reload();
  return count;
}
