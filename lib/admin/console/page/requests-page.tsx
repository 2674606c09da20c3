import { useMemo, useState } from "preact/hooks";
import type { RequestRow, TestEventResult } from "../console-view";
import { Button } from "./action";
import { describeProblem, readPublicUrl, send, settings } from "./api";
import { Cards, EmptyState, Notice } from "./blocks";
import { Choices, Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, formatDuration, plural } from "./format";
import { live, paused } from "./live";
import { Notices } from "./notices";
import { Received } from "./received";
import { askToResend, selectedRequests } from "./request-details";
import { filterRows, RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { place } from "./route";
import { createLoader, useEvery, useStore } from "./store";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: its requests, the rejected ones, and why. */
export function RequestsPage() {
  const { rows, process, totals } = useStore(live);
  const { query, id } = useStore(place);
  const found = filterRows(useStore(paused) ?? rows, query);
  return (
    <section aria-label="Receiver">
      <h2 tabIndex={-1} class="unseen">
        Receiver
      </h2>
      <Notices rows={rows} totals={totals} />
      <TotalCards />
      {totals !== undefined && totals.received > 0 && <TrafficChart />}
      <div class="panel">
        <div class="panel-head">
          <h3>
            Requests <small>of process {process}</small>
          </h3>
          <small role="status">
            {query.size > 0 && `${plural(found.length, "request")} found.`}
          </small>
          <div class="buttons">
            <ResendButton found={found} />
            <PauseButton />
            {found.length > 0 && <ExportButtons rows={found} />}
            {settings.receiver?.canSendTest === true && (
              <Button class="primary" run={() => openDialog(<TestEvent />)}>
                Send test event
              </Button>
            )}
          </div>
        </div>
        <RequestFilter />
        {id !== undefined && totals !== undefined && rows.every((row) => row.id !== id) && (
          <MissingRequest id={id} />
        )}
        {found.length > 0 ? (
          <RequestTable rows={found} />
        ) : totals === undefined || rows.length > 0 ? (
          <p class="state">
            {rows.length > 0 ? "No request matches this filter." : "Connecting to the receiver."}
          </p>
        ) : (
          <EmptyState title="No webhook request has arrived yet.">
            <p>
              The service sends them to <Received text={readPublicUrl()} class="mono" />.
            </p>
            <p>This list begins when the app starts and holds the last 200.</p>
          </EmptyState>
        )}
      </div>
    </section>
  );
}

/** Says why the request of a link is not in the list. */
function MissingRequest({ id }: { id: string }) {
  const loader = useMemo(
    () => createLoader(() => send<object>("GET", `console/requests/${encodeURIComponent(id)}`)),
    [id],
  );
  useEvery(undefined, loader.reload);
  const { error } = useStore(loader);
  return error === undefined ? null : <Notice tone="warn" title={describeProblem(error)} />;
}

/** Runs the handlers again for the requests that are ticked, and shown. */
function ResendButton({ found }: { found: readonly RequestRow[] }) {
  const selected = useStore(selectedRequests);
  const ids = found.map(({ id }) => id).filter((id) => selected.includes(id));
  if (ids.length === 0) return null;
  return <Button run={() => askToResend(ids)}>Run again {formatCount(ids.length)} selected</Button>;
}

/** Holds the list fast while requests arrive. */
function PauseButton() {
  const held = useStore(paused);
  const { rows } = useStore(live);
  const newCount = rows.filter(({ atMs }) => atMs > (held?.[0]?.atMs ?? 0)).length;
  return (
    <Button
      aria-pressed={held !== undefined}
      run={() => paused.set(held === undefined ? rows : undefined)}
    >
      {held === undefined ? "Pause" : `Resume${newCount > 0 ? `, ${newCount} new` : ""}`}
    </Button>
  );
}

/** Buttons that download the rows that are shown. */
function ExportButtons({ rows }: { rows: readonly RequestRow[] }) {
  const toLines = () => rows.map((row) => JSON.stringify(row)).join("\n");
  return (
    <>
      <Button run={() => download("requests.jsonl", toLines())}>Export JSONL</Button>
      <Button run={() => download("requests.csv", toCsv(rows))}>CSV</Button>
    </>
  );
}

function toCsv(rows: readonly RequestRow[]): string {
  const names = [...new Set(rows.flatMap(Object.keys))] as (keyof RequestRow)[];
  const lines = rows.map((row) => names.map((name) => toCell(row[name])).join(","));
  return [names.join(","), ...lines].join("\r\n");
}

function toCell(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  // A spreadsheet would run it as a formula.
  const safe = text.replace(/^[=+\-@\t\r]/, "'$&");
  return `"${safe.replaceAll('"', '""')}"`;
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function TotalCards() {
  const { totals } = useStore(live);
  // Ages grow while nothing happens.
  useEvery(5_000, () => live.set({ ...live.value }));
  if (totals === undefined) return null;
  const { byResult, byCode, waits } = totals;
  const [[topCode, topCount] = ["", 0]] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  const waitedMs = (waits.oldestMs ?? 0) + performance.now() - live.value.totalsAtMs;
  return (
    <Cards
      label="Totals"
      figures={[
        ["Received", totals.received, `in the last ${formatAge(Date.now() - totals.sinceMs)}`],
        [
          byResult.stored > 0 || settings.hasQueue ? "Stored" : "Handled",
          byResult.handled + byResult.stored,
        ],
        ["Duplicates", byResult.duplicate, plural(byResult.conflict, "conflict"), "warn"],
        [
          "Rejected or failed",
          byResult.rejected + byResult.failed,
          topCode === "" ? "none" : `${formatCount(topCount)} × ${topCode}`,
          "bad",
        ],
        [
          "Pending waits",
          waits.count,
          waits.count === 0 ? "no login waits" : `the oldest for ${formatAge(waitedMs)}`,
        ],
      ]}
    />
  );
}

/** The dialog that sends a test event; it stays open and shows the response. */
function TestEvent() {
  const [sent, setSent] = useState<{ text: string; isGood: boolean; uuid: string }>();
  async function submit(data: FormData): Promise<string> {
    const choice = Object.fromEntries(data);
    const result = await send<TestEventResult>("POST", "console/test-event", choice);
    const { status, durationMs, failure, uuid } = result;
    const text =
      status === undefined
        ? `No response: ${failure}.`
        : `The receiver responded ${status} in ${formatDuration(durationMs)}.`;
    setSent({ text, isGood: status === 200, uuid });
    return text;
  }
  return (
    <Dialog title="Send a test event" action="Send test event" staysOpen submit={submit}>
      <p>
        The server signs it as the service does. <b>Your handlers run for it</b>; its user and its
        SIDs do not exist.
      </p>
      <Choices
        legend="Event type"
        name="type"
        options={settings.eventTypes.map((type) => [type, type])}
        chosen={["challenge.approved"]}
      />
      <Choices
        legend="Version"
        name="version"
        options={[
          ["v2", "v2"],
          ["v1", "v1, legacy"],
        ]}
        chosen={["v2"]}
      />
      <Choices
        legend="Send to"
        name="via"
        options={[
          ["direct", "the receiver in this process: tests it and its handlers"],
          [
            "network",
            `publicUrl, which also tests DNS, TLS, proxies and the mount: ${readPublicUrl()}`,
          ],
        ]}
        chosen={["direct"]}
      />
      {sent !== undefined && (
        <Notice tone={sent.isGood ? "good" : "bad"} title={sent.text}>
          <code>{sent.uuid}</code>
        </Notice>
      )}
    </Dialog>
  );
}
