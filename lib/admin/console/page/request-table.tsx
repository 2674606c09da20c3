import type { TdHTMLAttributes } from "preact";
import type { RequestRow } from "../console-view";
import { settings } from "./api";
import { Pill, Time, type Tone } from "./blocks";
import { formatDuration, formatTime, timeZone } from "./format";
import { Received } from "./received";
import { OpenRequest } from "./request-details";
import { place, replacePlace } from "./route";

const toneOf = (state: string): Tone =>
  /rejected|failed|dead/.test(state)
    ? "bad"
    : /duplicate|conflict|failing|discarded/.test(state)
      ? "warn"
      : "good";

/** The list of requests, the newest first. A grid: where its columns do not fit, rows are blocks. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const oldestMs = rows.at(-1)?.atMs ?? Date.now();
  const hasDates = new Date(oldestMs).toDateString() !== new Date().toDateString();
  return (
    <table role="table" class="requests" aria-label="Webhook requests, the newest first">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">
            Time <small>{timeZone}</small>
          </th>
          {["Event", "Entity", "Result", "Duration"].map((title) => (
            <th role="columnheader">{title}</th>
          ))}
          <th role="columnheader" class="unseen">
            Details
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <RequestLine key={row.id} row={row} hasDates={hasDates} />
        ))}
      </tbody>
    </table>
  );
}

const Cell = (props: TdHTMLAttributes) => <td role="cell" {...props} />;

/** A row, and the open request below it. */
function RequestLine({ row, hasDates }: { row: RequestRow; hasDates: boolean }) {
  const { id, atMs, resent, handlersMs } = row;
  const isOpen = place.value.id === id;
  const tone = toneOf(row.state);
  const time = formatTime(atMs, hasDates);
  const type = row.type ?? describeUnread(row);
  const result = row.code ?? row.state;
  function toggle({ target, currentTarget }: Event): void {
    // A click that ends a selection of text in this row copies something.
    const isButton = target instanceof HTMLButtonElement;
    const selection = getSelection();
    const isSelecting =
      selection?.isCollapsed === false && selection.containsNode(currentTarget as Node, true);
    if (isSelecting && !isButton) return;
    replacePlace({ id: isOpen ? undefined : id });
  }
  return (
    <>
      <tr role="row" class={`line ${tone}${isOpen ? " open" : ""}`} onClick={toggle}>
        <Cell class="time">
          <Time atMs={atMs} text={time} />
        </Cell>
        <Cell class="event">
          <Received text={type} class={row.type === undefined ? "muted" : ""} />
          <span class="muted"> {describeDelivery(row)}</span>
          {row.isTest && <Pill tone="info">test</Pill>}
          {row.failure && <Received text={row.failure} class="failure muted" />}
        </Cell>
        <Cell class="entity">
          {row.entity && [<Received text={row.entity} />, " ", <small>{row.person}</small>]}
        </Cell>
        <Cell class="result">
          <Pill tone={tone}>
            {row.status} {result}
          </Pill>
          {resent && <Pill tone={resent.problem === undefined ? "good" : "bad"}>ran again</Pill>}
        </Cell>
        <Cell>
          {formatDuration(row.durationMs)}
          {handlersMs !== undefined && <small> + {formatDuration(handlersMs)}</small>}
        </Cell>
        <Cell class="toggle-cell">
          <button
            type="button"
            class="toggle"
            id={`request-${id}`}
            aria-expanded={isOpen}
            aria-controls={isOpen ? `details-${id}` : undefined}
            aria-label={`Details of ${time}, ${type}, ${result}`}
          />
        </Cell>
      </tr>
      {isOpen && (
        <tr role="row" class={`details ${tone}`} id={`details-${id}`}>
          <Cell colSpan={6}>
            <OpenRequest row={row} />
          </Cell>
        </tr>
      )}
    </>
  );
}

function describeUnread({ code }: RequestRow): string {
  return code?.startsWith("PAYLOAD_") === true ? "not readable" : "not verified";
}

/** The version of an event; which delivery it is, and its token, where there are several. */
function describeDelivery({ version, attempt, tokenIndex }: RequestRow): string {
  if (version === undefined || tokenIndex === undefined) return "";
  const tokens = Math.max(settings.receiver?.tokenCount ?? 1, tokenIndex + 1);
  const parts = [version];
  if (attempt > 1) parts.push(`attempt ${attempt}`);
  if (tokens > 1) parts.push(`token ${tokenIndex + 1} of ${tokens}`);
  return parts.join(" · ");
}
