import { Component, type ComponentChildren } from "preact";
import type { RequestResult, RequestRow } from "../console-view";
import { settings } from "./api";
import { type Column, Pill, SelectBox, Table, type Tone } from "./blocks";
import { formatDuration, formatTime, timeZone } from "./format";
import { live } from "./live";
import { Received } from "./received";
import { OpenRequest } from "./request-details";
import { place, replacePlace } from "./route";
import { createStore, useStore } from "./store";

/** The tone of each result. */
const TONES: Record<RequestResult, Tone> = {
  handled: "good",
  stored: "good",
  duplicate: "warn",
  conflict: "warn",
  rejected: "bad",
  failed: "bad",
};

/** The ids of the requests that are ticked. */
export const selectedRequests = createStore<readonly number[]>([]);

const COLUMNS: readonly Column[] = [
  ["select", <span class="unseen">Select</span>],
  ["time", ["Time ", <small>{timeZone}</small>]],
  ["event", "Event"],
  ["entity", "Entity"],
  ["result", "Result"],
  ["attempt", "Attempt"],
  ["token", "Token"],
  ["duration", "Duration"],
  ["toggle-cell", <span class="unseen">Details</span>],
];

/** The columns that say something. */
function chooseColumns(): readonly Column[] {
  const { rows } = live.value;
  const has: Readonly<Record<string, boolean>> = {
    select: !settings.readOnly,
    attempt: rows.some(({ attempt }) => attempt > 1),
    token:
      rows.some(({ tokenIndex = 0 }) => tokenIndex > 0) || (settings.receiver?.tokenCount ?? 0) > 1,
  };
  return COLUMNS.filter(([name]) => has[name] ?? true);
}

/** The list of requests, the newest first. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const { id } = useStore(place);
  const selected = useStore(selectedRequests);
  const columns = chooseColumns();
  const columnNames = columns.map(([name]) => name).join(" ");
  const oldestMs = live.value.rows.at(-1)?.atMs ?? Date.now();
  const hasDates = new Date(oldestMs).toDateString() !== new Date().toDateString();
  return (
    <Table class="requests" label="Webhook requests, the newest first" columns={columns}>
      {rows.map((row) => (
        <RequestLine
          key={`${row.id} ${row.atMs}`}
          row={row}
          isOpen={id === String(row.id)}
          isSelected={selected.includes(row.id)}
          columnNames={columnNames}
          hasDates={hasDates}
        />
      ))}
    </Table>
  );
}

interface LineProps {
  row: RequestRow;
  isOpen: boolean;
  isSelected: boolean;
  /** Separated by spaces. */
  columnNames: string;
  hasDates: boolean;
}

/**
 * A row, and the open request below it. 200 rows are drawn several times a second in a burst: only
 * those that changed are. `useMemo` would keep the first drawing of each row, and its whole list.
 */
class RequestLine extends Component<LineProps> {
  readonly #isNew = this.props.row.id >= live.value.firstNewId;

  override shouldComponentUpdate(next: LineProps): boolean {
    const names = Object.keys(next) as (keyof LineProps)[];
    return names.some((name) => next[name] !== this.props[name]);
  }

  override render({ row, isOpen, isSelected, columnNames, hasDates }: LineProps) {
    const { id, atMs, uuid, tokenIndex, status, type, version } = row;
    const names = columnNames.split(" ");
    const time = formatTime(atMs, hasDates);
    const result = row.code ?? row.result;
    const tone = TONES[row.result];
    const { tokenCount } = settings.receiver ?? {};
    function toggle({ target }: Event): void {
      // A click that ends a selection of text copies something.
      if (target instanceof HTMLInputElement || String(getSelection()) !== "") return;
      replacePlace({ id: isOpen ? undefined : String(id) });
    }
    const cells: Readonly<Record<string, ComponentChildren>> = {
      select: uuid ? (
        <SelectBox
          ids={selectedRequests}
          id={id}
          isSelected={isSelected}
          label={`Select the request of ${time}`}
        />
      ) : (
        ""
      ),
      time: <time dateTime={new Date(atMs).toISOString()}>{time}</time>,
      event: (
        <>
          {type === undefined ? (
            <span class="muted">{describeUnread(row)}</span>
          ) : (
            <Received text={type} />
          )}
          {version !== undefined && <span class="muted"> {version}</span>}
          {row.isTest && <Pill tone="info">test</Pill>}
        </>
      ),
      entity: row.entity && (
        <>
          <Received text={row.entity} /> <small>{row.pseudonym}</small>
        </>
      ),
      result: (
        <Pill tone={tone}>
          {status} {result}
        </Pill>
      ),
      // A request that was not authenticated has no uuid: its deliveries cannot be counted.
      attempt: uuid && row.attempt,
      token:
        tokenIndex === undefined
          ? undefined
          : `${tokenIndex + 1}${tokenCount === undefined ? "" : ` of ${tokenCount}`}`,
      duration: formatDuration(row.durationMs),
      "toggle-cell": (
        <button
          type="button"
          class="toggle"
          id={`request-${id}`}
          aria-expanded={isOpen}
          aria-controls={isOpen ? `details-${id}` : undefined}
          aria-label={`Details of ${time}, ${type ?? describeUnread(row)}, ${result}`}
        />
      ),
    };
    return (
      <>
        <tr
          class={`line ${tone}${isOpen ? " open" : ""}${this.#isNew ? " new" : ""}`}
          onClick={toggle}
        >
          {names.map((name) => (
            <td class={cells[name] === undefined ? `${name} idle` : name} key={name}>
              {cells[name] ?? "–"}
            </td>
          ))}
        </tr>
        {isOpen && (
          <tr class={`details ${tone}`} id={`details-${id}`}>
            <td colSpan={names.length}>
              <div class="box">
                <OpenRequest row={row} />
              </div>
            </td>
          </tr>
        )}
      </>
    );
  }
}

/** Says why a request has no event. A signature is checked first: these come after it. */
function describeUnread({ code }: RequestRow): string {
  return code?.startsWith("PAYLOAD_") === true ? "not readable" : "not verified";
}
