import { Fragment, type TdHTMLAttributes } from "preact";
import type { RequestRow } from "../request-row";
import type { RequestDetails } from "../shown-history";
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

const COLUMNS = ["Time", "Event", "Entity", "Result", "Duration", "More"];

interface TableProps {
  rows: readonly RequestRow[];
  /** The details of the row that is open; undefined until they are loaded. */
  details: RequestDetails | null | undefined;
}

/** The list of requests, the newest first. Where its columns do not fit, a row has several lines. */
export function RequestTable({ rows, details }: TableProps) {
  if (rows.length === 0) return null;
  return (
    <table role="table" class="requests" aria-label="Webhook requests, the newest first">
      <thead role="rowgroup">
        <tr role="row" class="head">
          {COLUMNS.map((name) => (
            <th role="columnheader" class={name.toLowerCase()}>
              {name} {name === "Time" && <small>{timeZone}</small>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Fragment key={row.id}>
            <RequestLine row={row} />
            {row.id === place.value.id && (
              <tr role="row" class={`details ${toneOf(row.state)}`} id="details">
                <Cell colSpan={6}>
                  <OpenRequest row={row} details={details} />
                </Cell>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

const Cell = (props: TdHTMLAttributes) => <td role="cell" {...props} />;

function RequestLine({ row }: { row: RequestRow }) {
  const { id, resent, handlersMs } = row;
  const isOpen = place.value.id === id;
  const tone = toneOf(row.state);
  const time = formatTime(row.atMs);
  const type = row.type ?? (row.code?.startsWith("PAYLOAD_") ? "not readable" : "not verified");
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
    <tr role="row" class={`line ${tone}${isOpen ? " open" : ""}`} onClick={toggle}>
      <Cell class="time">
        <Time atMs={row.atMs} text={time} />
      </Cell>
      <Cell class="event">
        <Received text={type} class={row.type === undefined ? "muted" : ""} />
        <span class="muted"> {describeDelivery(row)}</span>
        {row.failure && <Received text={row.failure} class="failure muted" />}
      </Cell>
      <Cell class="entity">
        {row.entity && [<Received text={row.entity} />, " ", <small>{row.person}</small>]}
      </Cell>
      <Cell class="result">
        <Pill tone={tone}>
          {row.status} {result}
        </Pill>
        {resent && <Pill tone={resent.problem === undefined ? "good" : "bad"}>{resent.what}</Pill>}
      </Cell>
      <Cell class="duration">
        {formatDuration(row.durationMs)}
        {handlersMs !== undefined && <small> + {formatDuration(handlersMs)}</small>}
      </Cell>
      <Cell class="more">
        <button
          type="button"
          class="toggle"
          id={`request-${id}`}
          aria-expanded={isOpen}
          aria-controls={isOpen ? "details" : undefined}
          aria-label={`Details of ${time}, ${type}, ${result}`}
        />
      </Cell>
    </tr>
  );
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
