import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { RequestResult, RequestRow } from "../console-view";
import { Pill, type Tone } from "./blocks";
import { formatDuration, formatTime, timeZone } from "./format";
import { live } from "./live";
import { Received } from "./received";
import { OpenRequest } from "./request-details";
import { place, replacePlace } from "./route";
import { settings } from "./settings";
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

const COLUMNS = ["time", "event", "entity", "result", "attempt", "token", "duration"] as const;

/** The columns that say something; `date` stands in that of the time. */
type Shown = readonly ((typeof COLUMNS)[number] | "date")[];

function chooseColumns(): Shown {
  const { rows } = live.value;
  const days = new Set(rows.map(({ atMs }) => new Date(atMs).toDateString()));
  const has: Partial<Record<Shown[number], boolean>> = {
    attempt: rows.some(({ attempt }) => attempt > 1),
    token:
      rows.some(({ tokenIndex = 0 }) => tokenIndex > 0) || (settings.receiver?.tokenCount ?? 0) > 1,
    date: days.size > 1 || !days.has(new Date().toDateString()),
  };
  return [...COLUMNS, "date" as const].filter((name) => has[name] ?? true);
}

/** The list of requests, the newest first. */
export function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const { id } = useStore(place);
  const shown = chooseColumns();
  return (
    <table class="requests" aria-label="Webhook requests, the newest first">
      <thead>
        <tr>
          {COLUMNS.filter((name) => shown.includes(name)).map((name) => (
            <th class={name} key={name}>
              {name}
              {name === "time" && <small> {timeZone}</small>}
            </th>
          ))}
          <th class="toggle-cell">
            <span class="unseen">Details</span>
          </th>
        </tr>
      </thead>
      <tbody class="rows">
        {rows.map((row) => (
          <RequestLine
            key={`${row.id} ${row.atMs}`}
            row={row}
            isOpen={id === String(row.id)}
            isNew={live.value.newIds.has(row.id)}
            shown={shown}
          />
        ))}
      </tbody>
    </table>
  );
}

interface LineProps {
  row: RequestRow;
  isOpen: boolean;
  isNew: boolean;
  shown: Shown;
}

function RequestLine(props: LineProps) {
  const { row, isOpen, shown } = props;
  const [isNew] = useState(props.isNew);
  // 200 rows are drawn several times a second in a burst: only those that changed are compared.
  return useMemo(() => <Line {...props} isNew={isNew} />, [row, isOpen, shown.join()]);
}

function Line({ row, isOpen, isNew, shown }: LineProps) {
  const { id, atMs, tokenIndex, status, type, version } = row;
  const { time, milliseconds, date } = formatTime(atMs);
  const result = row.code ?? row.result;
  const tone = TONES[row.result];
  const { tokenCount } = settings.receiver ?? {};
  const toggle = () => replacePlace({ id: isOpen ? undefined : String(id) });
  // A click that ends a selection of text copies something.
  const names = COLUMNS.filter((name) => shown.includes(name));
  const onClick = () => String(getSelection()) === "" && toggle();
  const cells: Record<(typeof COLUMNS)[number], ComponentChildren> = {
    time: (
      <time dateTime={new Date(atMs).toISOString()}>
        {shown.includes("date") && `${date} `}
        {time}
        <span class="muted milliseconds">.{milliseconds}</span>
      </time>
    ),
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
    attempt: row.uuid && row.attempt,
    token:
      tokenIndex === undefined
        ? undefined
        : `${tokenIndex + 1}${tokenCount === undefined ? "" : ` of ${tokenCount}`}`,
    duration: formatDuration(row.durationMs),
  };
  return (
    <>
      <tr class={`line ${tone}${isOpen ? " open" : ""}${isNew ? " new" : ""}`} onClick={onClick}>
        {names.map((name) => (
          <td class={cells[name] === undefined ? `${name} idle` : name} key={name}>
            {cells[name] ?? "–"}
          </td>
        ))}
        <td class="toggle-cell">
          <button
            type="button"
            class="toggle"
            id={`request-${id}`}
            aria-expanded={isOpen}
            aria-controls={isOpen ? `details-${id}` : undefined}
            aria-label={`Details of ${time}, ${type ?? describeUnread(row)}, ${result}`}
          />
        </td>
      </tr>
      {isOpen && (
        <tr class={`details ${tone}`} id={`details-${id}`}>
          <td colSpan={names.length + 1}>
            <div class="box">
              <OpenRequest row={row} />
            </div>
          </td>
        </tr>
      )}
    </>
  );
}

/** Says why a request has no event. A signature is checked first: these come after it. */
function describeUnread({ code }: RequestRow): string {
  return code?.startsWith("PAYLOAD_") === true ? "not readable" : "not verified";
}
