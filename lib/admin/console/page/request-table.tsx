import { Component } from "preact";
import type { RequestRow } from "../console-view";
import { settings } from "./api";
import { Pill, Time, type Tone } from "./blocks";
import { formatDuration, formatTime, timeZone } from "./format";
import { live } from "./changes";
import { Received } from "./received";
import { OpenRequest } from "./request-details";
import { stateOf } from "./request-filter";
import { SelectBox, selectedRequests } from "./resend";
import { place, replacePlace } from "./route";

const toneOf = (state: string): Tone =>
  /rejected|failed/.test(state)
    ? "bad"
    : /duplicate|conflict|failing/.test(state)
      ? "warn"
      : "good";

/** The list of requests, the newest first. A grid: where its columns do not fit, rows are blocks. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const ids = rows.filter(({ canResend }) => canResend).map(({ id }) => id);
  const oldestMs = live.value.rows.at(-1)?.atMs ?? Date.now();
  const hasDates = new Date(oldestMs).toDateString() !== new Date().toDateString();
  return (
    <table role="table" class="requests" aria-label="Webhook requests, the newest first">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" class="select">
            <SelectBox ids={ids} label="Select all" />
          </th>
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
          <RequestLine
            key={row.id}
            row={row}
            isOpen={place.value.id === row.id}
            isSelected={selectedRequests.value.includes(row.id)}
            hasDates={hasDates}
          />
        ))}
      </tbody>
    </table>
  );
}

interface LineProps {
  row: RequestRow;
  isOpen: boolean;
  isSelected: boolean;
  hasDates: boolean;
}

/**
 * A row, and the open request below it. 200 rows are drawn several times a second in a burst: only
 * those that changed are, and the open one. `useMemo` would keep the first drawing of each row, and
 * its whole list.
 */
class RequestLine extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const names = Object.keys(next) as (keyof LineProps)[];
    return next.isOpen || names.some((name) => next[name] !== this.props[name]);
  }

  override render({ row, isOpen, hasDates }: LineProps) {
    const { id, atMs, resent } = row;
    const tone = toneOf(stateOf(row));
    const time = formatTime(atMs, hasDates);
    const type = row.type ?? describeUnread(row);
    const result = row.code ?? stateOf(row);
    function toggle({ target, currentTarget }: Event): void {
      if (target instanceof HTMLInputElement) return;
      // A click that ends a selection of text in this row copies something.
      const isButton = target instanceof HTMLButtonElement;
      const selection = getSelection();
      const isSelecting =
        selection?.isCollapsed === false && selection.containsNode(currentTarget as Node, true);
      if (isSelecting && !isButton) return;
      replacePlace({ id: isOpen ? undefined : id });
    }
    const select = `Select the request of ${time}`;
    return (
      <>
        <tr role="row" class={`line ${tone}${isOpen ? " open" : ""}`} onClick={toggle}>
          <td role="cell" class="select">
            {row.canResend && <SelectBox ids={[id]} label={select} />}
          </td>
          <td role="cell" class="time">
            <Time atMs={atMs} text={time} />
          </td>
          <td role="cell" class="event">
            <Received text={type} class={row.type === undefined ? "muted" : ""} />
            <span class="muted"> {describeDelivery(row)}</span>
            {row.isTest && <Pill tone="info">test</Pill>}
          </td>
          <td role="cell" class="entity">
            {row.entity && [<Received text={row.entity} />, " ", <small>{row.pseudonym}</small>]}
          </td>
          <td role="cell" class="result">
            <Pill tone={tone}>
              {row.status} {result}
            </Pill>
            {resent && <Pill tone={resent.problem === undefined ? "good" : "bad"}>ran again</Pill>}
          </td>
          <td role="cell">{formatDuration(row.durationMs)}</td>
          <td role="cell" class="toggle-cell">
            <button
              type="button"
              class="toggle"
              id={`request-${id}`}
              aria-expanded={isOpen}
              aria-controls={isOpen ? `details-${id}` : undefined}
              aria-label={`Details of ${time}, ${type}, ${result}`}
            />
          </td>
        </tr>
        {isOpen && (
          <tr role="row" class={`details ${tone}`} id={`details-${id}`}>
            <td role="cell" colSpan={7}>
              <OpenRequest row={row} />
            </td>
          </tr>
        )}
      </>
    );
  }
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
