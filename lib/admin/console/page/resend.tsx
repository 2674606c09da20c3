import type { ComponentChildren } from "preact";
import type { FailedRequests } from "../console-view";
import { WriteButton } from "./action";
import { ActionDialog } from "./action-dialog";
import { settings } from "./api";
import { Time } from "./blocks";
import { openDialog } from "./dialog";
import { formatCount, formatTime, plural } from "./format";
import { journal } from "./journal";
import { Fact, Facts } from "./received";

/** Runs the handlers again of all that the filter selects and that failed. */
export function ResendFailedButton({ failed }: { failed: FailedRequests }) {
  const { count, firstAtMs } = failed;
  if (count === 0 || firstAtMs === undefined) return null;
  const isOld = new Date(firstAtMs).toDateString() !== new Date().toDateString();
  const since = formatTime(firstAtMs, isOld).slice(0, -7);
  // Those that were counted, and no others.
  const { filter = "{}", atMs: untilMs = 0 } = journal.value ?? {};
  const choice = { filter: JSON.parse(filter) as object, untilMs };
  return (
    <ResendButton
      label={`Run ${formatCount(count)} failed since ${since} again`}
      count={count}
      choice={choice}
    >
      <FailedFacts {...failed} />
    </ResendButton>
  );
}

/** Asks whether the handlers are to run again, and runs them. */
export function ResendButton(props: {
  label: string;
  count: number;
  choice: object;
  children?: ComponentChildren;
}) {
  const { label, count, choice, children } = props;
  const run = () =>
    openDialog(
      <ActionDialog
        title={`Run the handlers again for ${plural(count, "event")}?`}
        action="Run again"
        path="console/resend"
        choice={choice}
        count={count}
        done={settings.hasQueue ? "given to a worker" : "run again"}
        finish={journal.reload}
      >
        <p>
          {settings.hasQueue
            ? "A worker runs them, with all attempts. What was handled or discarded meanwhile is left out."
            : "They run in this process, one after the other, also if they succeeded before."}
        </p>
        {children}
      </ActionDialog>,
    );
  return <WriteButton label={label} run={run} />;
}

function FailedFacts({ users, errors, firstAtMs = 0, lastAtMs = 0 }: FailedRequests) {
  return (
    <Facts>
      <Fact name="Users">{formatCount(users)}</Fact>
      <Fact name="Received">
        <Time atMs={firstAtMs} /> to <Time atMs={lastAtMs} />
      </Fact>
      {errors.map(({ error, count }) => (
        <Fact key={error} name={`${formatCount(count)} ×`}>
          {error}
        </Fact>
      ))}
    </Facts>
  );
}
