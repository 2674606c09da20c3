import { useEffect, useRef, useState } from "preact/hooks";
import type { RequestRow, Resent } from "../console-view";
import { WriteButton } from "./action";
import { describeProblem, ProblemError, send, settings } from "./api";
import { Dialog, openDialog } from "./dialog";
import { formatCount, formatDuration, formatTime, plural } from "./format";
import { Fact, Facts } from "./received";
import { createStore } from "./store";

/** The ids of the requests that are ticked. */
export const selectedRequests = createStore<readonly string[]>([]);

/** Whether the event is a dead letter: it was stored, and then its handlers failed. */
const isDead = ({ status, result }: RequestRow) =>
  settings.hasQueue && status === 200 && result === "failed";

const isFailed = ({ result, canResend, resent }: RequestRow) =>
  result === "failed" && canResend && (!resent || resent.problem);

/** Runs the handlers again: for the requests that are ticked, else for all that have failed since. */
export function ResendButton({ found }: { found: readonly RequestRow[] }) {
  const selected = found.filter(({ id }) => selectedRequests.value.includes(id));
  const rows = selected.length > 0 ? selected : found.filter(isFailed);
  const oldest = rows.at(-1);
  if (oldest === undefined) return null;
  const count = formatCount(rows.length);
  const isOld = new Date(oldest.atMs).toDateString() !== new Date().toDateString();
  const since = formatTime(oldest.atMs, isOld).slice(0, -7);
  const label =
    selected.length > 0
      ? `Run again ${count} selected`
      : `Run ${count} failed since ${since} again`;
  return <WriteButton label={label} run={() => openDialog(<ResendDialog rows={rows} />)} />;
}

/** Asks whether the handlers are to run again for the events of requests, and runs them. */
export function ResendDialog({ rows }: { rows: readonly RequestRow[] }) {
  const [results, setResults] = useState<readonly string[]>([]);
  const isClosed = useRef(false);
  useEffect(() => () => void (isClosed.current = true), []);
  const events = plural(rows.length, "event");
  const isMany = rows.length > 1;
  const isDone = isMany && results.length === rows.length;
  const lastMs = rows.reduce((sum, { durationMs }) => sum + durationMs, 0);
  async function submit(): Promise<string> {
    const said: string[] = [];
    const problems = new Set<string>();
    // The oldest first, and one after the other: the handlers of 200 events must not run at a time.
    for (const row of rows.toReversed()) {
      if (isClosed.current) break;
      const { problem } = await send<Resent>("POST", `console/requests/${row.id}/resend`).catch(
        (error: unknown) => ({ problem: describeProblem(error) }),
      );
      if (problem !== undefined) problems.add(problem);
      said.push(problem ?? (isDead(row) ? "given to a worker" : "ran again"));
      setResults([...said]);
    }
    selectedRequests.value = [];
    const done = rows.some(isDead) ? "A worker runs the handlers" : "The handlers ran";
    if (problems.size === 0) return `${done} again for ${plural(said.length, "event")}.`;
    const failed = said.filter((one) => problems.has(one)).length;
    throw new ProblemError(0, [...problems].join(" "), `${failed} of ${events} failed.`);
  }
  return (
    <Dialog
      title={`Run the handlers again for ${events}?`}
      {...(!isDone && { action: "Run again" })}
      staysOpen={isMany}
      submit={submit}
    >
      <p>
        They run in this process, or in a worker for a dead letter, also if they succeeded before.
        {isMany && ` One after the other: the requests took ${formatDuration(lastMs)}.`}
      </p>
      {results.length > 0 && (
        <progress aria-label="Events" max={rows.length} value={results.length} />
      )}
      {isMany && (
        <Facts>
          {rows.toReversed().map(({ id, atMs, type = "" }, index) => (
            <Fact key={id} name={formatTime(atMs, true)}>
              {type} {results[index] ?? ""}
            </Fact>
          ))}
        </Facts>
      )}
    </Dialog>
  );
}
