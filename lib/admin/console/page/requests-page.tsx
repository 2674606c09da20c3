import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { RequestRow, TestEventResult } from "../console-view";
import { Button } from "./action";
import { describeProblem, readPublicUrl, send, settings } from "./api";
import { Cards, EmptyState, Notice } from "./blocks";
import { Choices, Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, formatDate, formatDuration, plural } from "./format";
import { held, live } from "./live";
import { Notices } from "./notices";
import { Received } from "./received";
import { RejectedRequests } from "./rejected-requests";
import { askToResend, selectedRequests } from "./request-details";
import { filterRows, RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { place } from "./route";
import { createLoader, useEvery, useStore } from "./store";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: its requests, the rejected ones, and why. */
export function RequestsPage() {
  const { rows, process, totals } = useStore(live);
  const { id, query } = useStore(place);
  const [hasFocus, setFocus] = useState(false);
  const shown = useShownRows(hasFocus);
  const found = filterRows(shown, query);
  const isMissing = id !== undefined && totals !== undefined && shown.every((row) => row.id !== id);
  return (
    <section aria-label="Receiver">
      <h2 tabIndex={-1} class="unseen">
        Receiver
      </h2>
      {isMissing && <MissingRequest id={id} />}
      <Notices rows={shown} />
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
            <HoldButton release={() => setFocus(false)} />
            {found.length > 0 && <Button run={() => download(found)}>Export JSONL</Button>}
            {settings.receiver?.canSendTest === true && (
              <Button class="primary" run={() => openDialog(<TestEvent />)}>
                Send test event
              </Button>
            )}
          </div>
        </div>
        <RequestFilter />
        {found.length > 0 ? (
          <div
            onFocusIn={() => setFocus(true)}
            onFocusOut={({ currentTarget, relatedTarget }) =>
              setFocus(currentTarget.contains(relatedTarget as Node | null))
            }
          >
            <RequestTable rows={found} />
          </div>
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
      <RejectedRequests rejections={totals?.rejections ?? []} />
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

/** The rows to show: held, but as they are now, during a pause and while one of them is read. */
function useShownRows(hasFocus: boolean): readonly RequestRow[] {
  const { rows, seen } = useStore(live);
  const { id } = useStore(place);
  const hold = useStore(held);
  const newest = new Map(rows.map((row) => [row.id, row]));
  const shown = hold === undefined ? rows : hold.rows.map((row) => newest.get(row.id) ?? row);
  const isRead = hasFocus || shown.some((row) => row.id === id);
  useLayoutEffect(() => {
    if (isRead && hold === undefined) {
      held.set({ rows, seen, isPaused: false });
    } else if (!isRead && hold?.isPaused === false) held.set(undefined);
  });
  return shown;
}

/** Runs the handlers again for the requests that are ticked, and shown. */
function ResendButton({ found }: { found: readonly RequestRow[] }) {
  const selected = useStore(selectedRequests);
  const ids = found.map(({ id }) => id).filter((id) => selected.includes(id));
  if (ids.length === 0) return null;
  return <Button run={() => askToResend(ids)}>Run again {formatCount(ids.length)} selected</Button>;
}

/** Holds the list while requests arrive, and shows them afterwards. */
function HoldButton({ release }: { release: () => void }) {
  const hold = useStore(held);
  const { rows, seen } = useStore(live);
  const newCount = hold === undefined ? 0 : seen - hold.seen;
  const isPaused = hold?.isPaused === true;
  function toggle(): void {
    if (isPaused) held.set(undefined);
    else if (newCount === 0) held.set({ rows: hold?.rows ?? rows, seen, isPaused: true });
    else {
      release();
      // The open row stays, also when it is not among the newest any more.
      const open = hold?.rows.filter((row) => row.id === place.value.id) ?? [];
      const others = open.filter((row) => !rows.some(({ id }) => id === row.id));
      held.set({ rows: [...rows, ...others], seen, isPaused: false });
    }
  }
  const news = newCount > 0 ? `${formatCount(newCount)} new` : "";
  return (
    <Button aria-pressed={isPaused} run={toggle}>
      {isPaused ? ["Resume", news].filter(Boolean).join(", ") : news ? `Show ${news}` : "Pause"}
    </Button>
  );
}

function download(rows: readonly RequestRow[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.map((row) => JSON.stringify(row)).join("\n")]));
  link.download = "requests.jsonl";
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
    <>
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
      {totals.rotation.map(({ accountSid, tokens }) => (
        <p class="muted" key={accountSid}>
          {totals.rotation.length > 1 && `${accountSid}: `}
          {tokens
            .map(
              ({ count, lastAtMs }, index) =>
                `token ${index + 1}: ${plural(count, "request")}` +
                (lastAtMs === undefined ? "" : `, the last at ${formatDate(lastAtMs)}`),
            )
            .join("; ")}
        </p>
      ))}
    </>
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
