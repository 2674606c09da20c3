import { Component } from "preact";
import { useMemo } from "preact/hooks";
import type { RequestResult, RequestRow } from "../console-view";
import { settings } from "./api";
import { Cells, type Column, Pill, SelectBox, Table, type Tone } from "./blocks";
import { formatDuration, formatTime, timeZone } from "./format";
import { held, live } from "./live";
import { Received } from "./received";
import { OpenRequest, selectedRequests } from "./request-details";
import { place, replacePlace } from "./route";
import { useStore } from "./store";

/** The tone of each result. */
const TONES: Record<RequestResult, Tone> = {
  handled: "good",
  stored: "good",
  duplicate: "warn",
  conflict: "warn",
  rejected: "bad",
  failed: "bad",
};

interface LineProps {
  row: RequestRow;
  isOpen: boolean;
  isSelected: boolean;
  columns: readonly Column<LineProps>[];
  hasDates: boolean;
}

const COLUMNS: readonly Column<LineProps>[] = [
  {
    name: "select",
    title: <span class="unseen">Select</span>,
    width: "24px",
    show: ({ row: { id, canResend, atMs }, isSelected }) =>
      canResend ? (
        <SelectBox
          ids={selectedRequests}
          id={id}
          isSelected={isSelected}
          label={`Select the request of ${formatTime(atMs)}`}
        />
      ) : (
        ""
      ),
  },
  {
    name: "time",
    title: ["Time ", <small>{timeZone}</small>],
    width: "minmax(14ch, max-content)",
    show: ({ row: { atMs }, hasDates }) => (
      <time dateTime={new Date(atMs).toISOString()}>{formatTime(atMs, hasDates)}</time>
    ),
  },
  {
    name: "event",
    title: "Event",
    width: "minmax(22ch, 2fr)",
    show: ({ row }) => (
      <>
        {row.type === undefined ? (
          <span class="muted">{describeUnread(row)}</span>
        ) : (
          <Received text={row.type} />
        )}
        {row.version !== undefined && <span class="muted"> {row.version}</span>}
        {row.isTest && <Pill tone="info">test</Pill>}
      </>
    ),
  },
  {
    name: "entity",
    title: "Entity",
    width: "minmax(15ch, 1fr)",
    show: ({ row: { entity, pseudonym } }) =>
      entity && (
        <>
          <Received text={entity} /> <small>{pseudonym}</small>
        </>
      ),
  },
  {
    name: "result",
    title: "Result",
    width: "minmax(22ch, 1fr)",
    show: ({ row }) => [
      <Pill tone={TONES[row.result]}>
        {row.status} {row.code ?? row.result}
      </Pill>,
      row.resent && <Pill tone={row.resent.problem === undefined ? "good" : "bad"}>ran again</Pill>,
    ],
  },
  // A request that was not authenticated has no uuid: its deliveries cannot be counted.
  {
    name: "attempt",
    title: "Attempt",
    width: "8ch",
    show: ({ row: { uuid, attempt } }) => uuid && attempt,
  },
  {
    name: "token",
    title: "Token",
    width: "7ch",
    show: ({ row: { tokenIndex } }) =>
      tokenIndex === undefined
        ? undefined
        : [tokenIndex + 1, settings.receiver?.tokenCount].filter(Boolean).join(" of "),
  },
  {
    name: "duration",
    title: "Duration",
    width: "9ch",
    show: ({ row }) => formatDuration(row.durationMs),
  },
  {
    name: "toggle-cell",
    title: <span class="unseen">Details</span>,
    width: "28px",
    show: ({ row, isOpen }) => (
      <button
        type="button"
        class="toggle"
        id={`request-${row.id}`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `details-${row.id}` : undefined}
        aria-label={`Details of ${formatTime(row.atMs)}, ${row.type ?? describeUnread(row)}, ${row.code ?? row.result}`}
      />
    ),
  },
];

/** The columns that have a value in some row. */
function useColumns(): readonly Column<LineProps>[] {
  // Those of a held list: a column that comes or goes would move what is read.
  const { rows } = held.value ?? live.value;
  const hasAttempts = rows.some(({ attempt }) => attempt > 1);
  const hasTokens =
    (settings.receiver?.tokenCount ?? 0) > 1 || rows.some(({ tokenIndex = 0 }) => tokenIndex > 0);
  return useMemo(() => {
    const isIdle: Readonly<Record<string, boolean>> = {
      select: settings.readOnly,
      attempt: !hasAttempts,
      token: !hasTokens,
    };
    return COLUMNS.filter(({ name }) => isIdle[name] !== true);
  }, [hasAttempts, hasTokens]);
}

/** The list of requests, the newest first. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const { id } = useStore(place);
  const selected = useStore(selectedRequests);
  const columns = useColumns();
  const oldestMs = live.value.rows.at(-1)?.atMs ?? Date.now();
  const hasDates = new Date(oldestMs).toDateString() !== new Date().toDateString();
  return (
    <Table class="requests" label="Webhook requests, the newest first" columns={columns}>
      {rows.map((row) => (
        <RequestLine
          key={row.id}
          row={row}
          isOpen={id === row.id}
          isSelected={selected.includes(row.id)}
          columns={columns}
          hasDates={hasDates}
        />
      ))}
    </Table>
  );
}

/**
 * A row, and the open request below it. 200 rows are drawn several times a second in a burst: only
 * those that changed are. `useMemo` would keep the first drawing of each row, and its whole list.
 */
class RequestLine extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    const names = Object.keys(next) as (keyof LineProps)[];
    return names.some((name) => next[name] !== this.props[name]);
  }

  override render(line: LineProps) {
    const { row, isOpen, columns } = line;
    const tone = TONES[row.result];
    function toggle({ target }: Event): void {
      // A click that ends a selection of text copies something.
      if (target instanceof HTMLInputElement || String(getSelection()) !== "") return;
      replacePlace({ id: isOpen ? undefined : row.id });
    }
    return (
      <>
        <tr role="row" class={`line ${tone}${isOpen ? " open" : ""}`} onClick={toggle}>
          <Cells columns={columns} row={line} />
        </tr>
        {isOpen && (
          <tr role="row" class={`details ${tone}`} id={`details-${row.id}`}>
            <td role="cell" colSpan={columns.length}>
              <OpenRequest row={row} />
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
