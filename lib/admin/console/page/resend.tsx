import { useState } from "preact/hooks";
import type { RequestRow, Resent } from "../console-view";
import { WriteButton } from "./action";
import { describeProblem, ProblemError, send, session, settings } from "./api";
import { changes } from "./changes";
import { Dialog, openDialog } from "./dialog";
import { formatCount, formatDuration, formatTime, plural } from "./format";
import { Fact, Facts, Received } from "./received";
import { createStore } from "./store";

/** The ids of the requests that are ticked. */
export const selectedRequests = createStore<readonly string[]>([]);

/** Whether the event is a dead letter: it was stored, and then its handlers failed. */
const isDead = ({ status, result }: RequestRow) =>
  settings.hasQueue && status === 200 && result === "failed";

/** A checkbox that ticks requests; none when the console only reads. */
export function SelectBox({ ids, label }: { ids: readonly string[]; label: string }) {
  const selected = selectedRequests;
  if (settings.readOnly || ids.length === 0) return null;
  const isSelected = ids.every((id) => selected.value.includes(id));
  // A line is not drawn again when others are ticked: its action reads the store.
  function toggle(): void {
    const others = selected.value.filter((id) => !ids.includes(id));
    selected.value = isSelected ? others : [...others, ...ids];
  }
  return <input type="checkbox" aria-label={label} checked={isSelected} onChange={toggle} />;
}

/** The processes that no longer respond; the ids of their requests begin with it. */
const ended = createStore<readonly string[]>([]);
const processOf = ({ id }: RequestRow) => id.split("-", 1)[0] ?? "";

/** Whether the handlers of a request can run again. */
export const canRun = (row: RequestRow): boolean =>
  row.canResend && !ended.value.includes(processOf(row));

const isFailed = (row: RequestRow) =>
  row.result === "failed" && canRun(row) && (!row.resent || row.resent.problem);

/** Runs the handlers of one request again. @returns why they did not succeed */
async function resend(row: RequestRow): Promise<string | undefined> {
  if (!canRun(row)) return "Its process has ended.";
  try {
    return (await send<Resent>("POST", `console/requests/${row.id}/resend`)).problem;
  } catch (error) {
    const isOver = error instanceof ProblemError && error.code === "ANOTHER_PROCESS";
    if (isOver) ended.value = [...ended.value, processOf(row)];
    return describeProblem(error);
  }
}

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
  const events = plural(rows.length, "event");
  const isMany = rows.length > 1;
  const isDone = isMany && results.length === rows.length;
  const lastMs = rows.reduce((sum, { durationMs }) => sum + durationMs, 0);
  async function submit(_data: FormData, stop: AbortSignal): Promise<string> {
    const said: string[] = [];
    const problems = new Set<string>();
    // The oldest first, and one after the other: the handlers of 200 events must not run at a time.
    for (const row of rows.toReversed()) {
      if (stop.aborted || session.value.isOver) break;
      const problem = await resend(row);
      if (problem !== undefined) problems.add(problem);
      said.push(problem ?? (isDead(row) ? "given to a worker" : "ran again"));
      setResults([...said]);
    }
    await changes.reload();
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
      {...(isMany && { progress: { done: results.length, of: rows.length } })}
      submit={submit}
    >
      <p>
        They run in this process, or in a worker for a dead letter, also if they succeeded before.
        {isMany && ` One after the other: the requests took ${formatDuration(lastMs)}.`}
      </p>
      {isMany && (
        <Facts>
          {rows.toReversed().map(({ id, atMs, type = "", entity, failure, code }, index) => (
            <Fact key={id} name={formatTime(atMs, true)}>
              {type} <Received text={entity} /> <small>{failure ?? code}</small>{" "}
              {results[index] ?? ""}
            </Fact>
          ))}
        </Facts>
      )}
    </Dialog>
  );
}
