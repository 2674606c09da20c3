import type { ComponentChildren } from "preact";
import type { ShownHistory } from "../shown-history";
import { WriteButton } from "./action";
import { ActionDialog } from "./action-dialog";
import { settings } from "./api";
import { Time } from "./blocks";
import { openDialog } from "./dialog";
import { formatCount, formatTime, plural } from "./format";
import { journal } from "./journal";
import { Fact } from "./received";

/** Runs the handlers again of all that the filter selects and that failed. */
export function ResendFailedButton({ failed }: ShownHistory) {
  const { count, users, errors, firstAtMs, lastAtMs = 0 } = failed;
  if (firstAtMs === undefined) return null;
  // Without seconds.
  const since = formatTime(firstAtMs).slice(0, -7);
  // Those that were counted, and no others.
  const { filter, atMs: untilMs } = journal.value ?? {};
  return (
    <ResendButton
      label={`Run ${formatCount(count)} failed since ${since} again`}
      count={count}
      choice={{ filter, untilMs }}
    >
      <dl class="facts">
        <Fact name="Users">{formatCount(users)}</Fact>
        <Fact name="Received">
          <Time atMs={firstAtMs} /> to <Time atMs={lastAtMs} />
        </Fact>
        {errors.map(({ error, count: times }) => (
          <Fact key={error} name={`${formatCount(times)} ×`}>
            {error}
          </Fact>
        ))}
      </dl>
    </ResendButton>
  );
}

interface ResendProps {
  label: string;
  count: number;
  choice: object;
  children?: ComponentChildren;
}

/** Asks whether the handlers are to run again, and runs them. */
export function ResendButton({ label, count, choice, children }: ResendProps) {
  const { hasQueue } = settings;
  const action = {
    path: "console/resend",
    choice,
    done: hasQueue ? "given to a worker" : "run again",
    finish: journal.reload,
  };
  const title = `Run the handlers again for ${plural(count, "event")}?`;
  const ask = () =>
    openDialog(
      <ActionDialog title={title} label="Run again" action={action} count={count}>
        <p>
          {hasQueue
            ? "A worker runs them, with all attempts. What was handled or discarded meanwhile is left out."
            : "They run in this process, one after the other, also if they succeeded before."}
        </p>
        {children}
      </ActionDialog>,
    );
  return <WriteButton label={label} run={ask} />;
}
