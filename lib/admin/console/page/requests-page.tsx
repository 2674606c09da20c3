import { useEffect, useRef, useState } from "preact/hooks";
import type { RequestRow } from "../request-row";
import type { ShownHistory } from "../shown-history";
import { Button } from "./action";
import { readPublicUrl, settings } from "./api";
import { Cards, Notice, Time } from "./blocks";
import { formatAge, formatCount, formatDate, plural } from "./format";
import { journal } from "./journal";
import { FoundLogin, searchLogin } from "./login-search";
import { Notices, RejectedRequests } from "./notices";
import { listFigures } from "./queue-page";
import { RehearseButton } from "./rehearsal";
import { RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { ResendFailedButton } from "./resend";
import { place } from "./route";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: its requests, the rejected ones, and why. */
export function RequestsPage() {
  const { id, query, isLinked } = place.value;
  useEffect(() => void (isLinked && searchLogin(query.get("q") ?? "")), [query]);
  useEffect(() => void journal.reload(), [query.toString(), id]);
  const { shown } = journal.value ?? {};
  return (
    <section aria-label="Receiver">
      <h2 tabIndex={-1} class="unseen">
        Receiver
      </h2>
      {shown && [
        <Notices shown={shown} />,
        <TotalCards {...shown} />,
        shown.totals.received > 0 && <TrafficChart {...shown} />,
        <RejectedRequests {...shown.totals} />,
      ]}
      <div class="panel">
        {shown ? <RequestList shown={shown} /> : <p class="state">Loading.</p>}
      </div>
    </section>
  );
}

/** The list with its filters. */
function RequestList({ shown }: { shown: ShownHistory }) {
  const { found, dropped, isShared, sinceMs } = shown;
  const { rows, more, release } = useShownRows(shown.rows);
  const { query, process, open, id: readId } = journal.value ?? {};
  const { id, query: filter } = place.value;
  const details = readId === id ? open : undefined;
  const isCurrent = query === filter.toString();
  // Above the others, when it is not one of them.
  const linked = details && rows.every((row) => row.id !== id) ? [details.row] : [];
  return (
    <>
      <div class="panel-head">
        <h3>
          Requests{" "}
          <small>
            {isShared ? "of all processes" : `of process ${process}`}, since <Time atMs={sinceMs} />
          </small>
        </h3>
        <small role="status">
          {filter.size > 0 && (isCurrent ? `${plural(found, "request")} found.` : "Searching.")}
        </small>
        <div class="buttons">
          <ResendFailedButton {...shown} />
          {more > 0 && <Button label={`Show ${formatCount(more)} new`} run={release} />}
          {rows.length > 0 && <Button label="Export JSONL" run={() => download(rows)} />}
          <RehearseButton />
        </div>
      </div>
      <RequestFilter />
      <FoundLogin />
      {details === null && (
        <Notice tone="bad" title="The request of the link is not in the history.">
          It keeps the last requests for 24 hours.
        </Notice>
      )}
      <RequestTable rows={[...linked, ...rows]} details={details} />
      <p class="state">{describeEnd(shown, rows.length)}</p>
      {dropped > 0 && (
        <p class="state">{formatCount(dropped)} more arrived too fast to be listed.</p>
      )}
    </>
  );
}

/** Always: a page that grows at its end may move what is read. */
function describeEnd({ found, totals }: ShownHistory, count: number): string {
  if (count > 0) return `The newest ${count} of ${formatCount(found)}.`;
  if (totals.received > 0) return "No request matches this filter.";
  return `No webhook request has arrived yet. The receiver expects them at ${readPublicUrl()}.`;
}

/**
 * The rows to show: those that were shown, as they are now, while one of them is open or focused,
 * so that no row moves under the pointer; of another filter always the newest.
 */
function useShownRows(newest: readonly RequestRow[]) {
  const latest = { rows: newest, query: journal.value?.query };
  const kept = useRef(latest);
  const [, draw] = useState({});
  const isOpen = kept.current.rows.some(({ id }) => id === place.value.id);
  const isHeld = isOpen || document.querySelector(".requests :focus") !== null;
  const release = () => (kept.current = latest);
  if (!isHeld || kept.current.query !== latest.query) release();
  const byId = new Map(newest.map((row) => [row.id, row]));
  const rows = kept.current.rows.map((row) => byId.get(row.id) ?? row);
  const shownIds = new Set(rows.map(({ id }) => id));
  const more = newest.filter(({ id }) => !shownIds.has(id)).length;
  return { rows, more, release: () => draw({ ...release() }) };
}

const toLine = (row: RequestRow) =>
  JSON.stringify({ at: new Date(row.atMs).toISOString(), ...row });

function download(rows: readonly RequestRow[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.map(toLine).join("\n")]));
  link.download = "requests.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}

function TotalCards({ totals, sinceMs }: ShownHistory) {
  const { received, byResult, byCode, rotation } = totals;
  const [[topCode, topCount] = ["", 0]] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  const { hasQueue } = settings;
  return (
    <>
      <Cards
        label="Totals"
        of={{
          Received: { count: received, note: `in the last ${formatAge(Date.now() - sinceMs)}` },
          [hasQueue ? "Stored" : "Handled"]: {
            count: byResult.handled + byResult.stored,
            note: hasQueue && plural(totals.failedAttempts, "failed attempt"),
          },
          Duplicates: { count: byResult.duplicate, note: plural(byResult.conflict, "conflict") },
          "Rejected or failed": {
            count: byResult.rejected + byResult.failed,
            note: topCode === "" ? "none" : `${formatCount(topCount)} × ${topCode}`,
            isBad: true,
          },
          ...(hasQueue && listFigures()),
        }}
      />
      {rotation.map(({ accountSid, tokens }) => (
        <p class="muted" key={accountSid}>
          {rotation.length > 1 && `${accountSid}: `}
          {tokens.map(describeToken).join("; ")}
        </p>
      ))}
    </>
  );
}

type TokenUse = ShownHistory["totals"]["rotation"][number]["tokens"][number];

function describeToken({ count, lastAtMs }: TokenUse, index: number): string {
  const last = lastAtMs === undefined ? "" : `, the last at ${formatDate(lastAtMs)}`;
  return `token ${index + 1}: ${plural(count, "request")}${last}`;
}
