import { useMemo, useState } from "preact/hooks";
import type { RequestResult, RequestRow } from "../console-view";
import { formatDuration, formatTime, timeZone } from "./format";
import { live } from "./live";
import { Received } from "./received";
import { RequestDetails } from "./request-details";
import { place, replacePlace } from "./route";
import { settings } from "./settings";
import { useStore } from "./store";

/** The class of each result. */
const TONES: Record<RequestResult, string> = {
  handled: "good",
  stored: "good",
  duplicate: "warn",
  conflict: "warn",
  rejected: "bad",
  failed: "bad",
};

/** Which columns say something: the others are left out. */
interface Columns {
  hasAttempt: boolean;
  hasToken: boolean;
  hasDate: boolean;
}

/** The list of requests, the newest first. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const { id } = useStore(place);
  const { newIds, rows: all } = live.value;
  const days = new Set(all.map(({ atMs }) => new Date(atMs).toDateString()));
  const columns: Columns = {
    hasAttempt: all.some(({ attempt }) => attempt > 1),
    hasToken:
      all.some(({ tokenIndex = 0 }) => tokenIndex > 0) || (settings.receiver?.tokenCount ?? 0) > 1,
    hasDate: days.size > 1 || (days.size === 1 && !days.has(new Date().toDateString())),
  };
  return (
    <div role="table" aria-label="Webhook requests, the newest first" class="requests">
      <div role="rowgroup">
        <div role="row" class="line heads">
          <span role="columnheader" class="time" title={timeZone}>
            Time <span class="muted">{timeZone}</span>
          </span>
          <span role="columnheader" class="event">
            Event
          </span>
          <span role="columnheader" class="entity">
            Entity
          </span>
          <span role="columnheader" class="result">
            Result
          </span>
          {columns.hasAttempt && (
            <span role="columnheader" class="attempt">
              Attempt
            </span>
          )}
          {columns.hasToken && (
            <span role="columnheader" class="token">
              Token
            </span>
          )}
          <span role="columnheader" class="duration">
            Duration
          </span>
          <span role="columnheader" class="toggle-cell">
            <span class="unseen">Details</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" class="rows">
        {rows.map((row) => (
          <RequestLine
            key={`${row.id} ${row.atMs}`}
            row={row}
            isOpen={id === String(row.id)}
            isNew={newIds.has(row.id)}
            {...columns}
          />
        ))}
      </div>
    </div>
  );
}

function RequestLine(props: Columns & { row: RequestRow; isOpen: boolean; isNew: boolean }) {
  const { row, isOpen, hasAttempt, hasToken, hasDate } = props;
  const [isNew] = useState(props.isNew);
  // 200 rows are drawn several times a second in a burst: only those that changed are compared.
  return useMemo(
    () => <Line {...props} isNew={isNew} />,
    [row, isOpen, hasAttempt, hasToken, hasDate],
  );
}

function Line({
  row,
  isOpen,
  isNew,
  ...columns
}: Columns & { row: RequestRow; isOpen: boolean; isNew: boolean }) {
  const { id, atMs, tokenIndex, status } = row;
  const { time, milliseconds, date } = formatTime(atMs);
  const result = row.code ?? row.result;
  const tone = TONES[row.result];
  const { tokenCount } = settings.receiver ?? {};
  const toggle = () => replacePlace({ id: isOpen ? undefined : String(id) });
  // A click that ends a selection of text copies something.
  const onClick = () => String(getSelection()) === "" && toggle();
  return (
    <>
      <div
        role="row"
        class={`line ${tone}${isOpen ? " open" : ""}${isNew ? " new" : ""}`}
        onClick={onClick}
      >
        <time role="cell" class="time mono" dateTime={new Date(atMs).toISOString()}>
          {columns.hasDate && `${date} `}
          {time}
          <span class="muted milliseconds">.{milliseconds}</span>
        </time>
        <span role="cell" class="event">
          {row.type === undefined ? (
            <span class="muted">{describeUnread(row)}</span>
          ) : (
            <Received text={row.type} />
          )}
          {row.version !== undefined && <span class="muted"> {row.version}</span>}
          {row.isTest && <span class="pill info">test</span>}
        </span>
        <span
          role="cell"
          class={`entity mono${row.entity === undefined ? " idle" : ""}`}
          title={row.entity}
        >
          {row.entity === undefined ? "–" : <Received text={row.entity} />}
        </span>
        <span role="cell" class="result">
          <span class={`pill ${tone}`}>
            {status} {result}
          </span>
        </span>
        {columns.hasAttempt && (
          <span role="cell" class={row.attempt === 1 ? "attempt idle" : "attempt"}>
            <span class="key">attempt </span>
            {/* A request that was not authenticated has no uuid: its deliveries cannot be counted. */}
            {row.uuid === undefined ? "–" : row.attempt}
          </span>
        )}
        {columns.hasToken && (
          <span role="cell" class={tokenIndex === undefined ? "token idle" : "token"}>
            <span class="key">token </span>
            {tokenIndex === undefined ? "–" : tokenIndex + 1}
            {tokenIndex !== undefined && tokenCount !== undefined && ` of ${tokenCount}`}
          </span>
        )}
        <span role="cell" class="duration">
          {formatDuration(row.durationMs)}
        </span>
        <span role="cell" class="toggle-cell">
          <button
            type="button"
            class="toggle"
            id={`request-${id}`}
            aria-expanded={isOpen}
            aria-controls={isOpen ? `details-${id}` : undefined}
            aria-label={`Details of ${time}, ${row.type ?? describeUnread(row)}, ${result}`}
          />
        </span>
      </div>
      {isOpen && (
        <div role="row" class={`details ${tone}`} id={`details-${id}`}>
          <div role="cell" aria-colspan={8} class="box">
            <RequestDetails row={row} />
          </div>
        </div>
      )}
    </>
  );
}

/** Says why a request has no event. A signature is checked first: these come after it. */
function describeUnread({ code }: RequestRow): string {
  return code?.startsWith("PAYLOAD_") === true ? "not readable" : "not verified";
}
