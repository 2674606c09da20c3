import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RequestRow, TestEventResult, TokenUse } from "../console-view";
import { Button } from "./action";
import { readPublicUrl, send, settings } from "./api";
import { Cards, Notice, toOptions } from "./blocks";
import { Choices, Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, formatDate, formatDuration, plural } from "./format";
import { changes, held, live, MAX_ROWS } from "./changes";
import { findFoundIds, FoundLogin, PendingWaits, searchLogin } from "./login-search";
import { Notices, RejectedRequests } from "./notices";
import { queue } from "./queue-page";
import { RehearseButton } from "./rehearsal";
import { LoadedRequest } from "./request-details";
import { filterRows, RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { ResendButton, selectedRequests } from "./resend";
import { place } from "./route";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: its requests, the rejected ones, and why. */
export function RequestsPage() {
  const { rows, process, totals } = live.value;
  const { id, query, isLinked } = place.value;
  useEffect(() => void (isLinked && searchLogin(query.get("q") ?? "")), [query]);
  const [hasFocus, setFocus] = useState(false);
  const shown = useShownRows(hasFocus);
  const found = filterRows(shown, query);
  const isMissing = id !== undefined && totals !== undefined && shown.every((row) => row.id !== id);
  return (
    <section aria-label="Receiver">
      <h2 tabIndex={-1} class="unseen">
        Receiver
      </h2>
      {isMissing && <LoadedRequest id={id} what="request of this link" children={() => null} />}
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
            <NewRequestsButton release={() => setFocus(false)} />
            {found.length > 0 && <Button label="Export JSONL" run={() => download(found)} />}
            {settings.receiver && <RehearseButton />}
            {settings.receiver?.canSendTest === true && (
              <Button
                label="Send test event"
                class="primary"
                run={() => openDialog(<TestEvent />)}
              />
            )}
          </div>
        </div>
        <RequestFilter />
        <FoundLogin />
        {found.length > 0 ? (
          <div
            onFocusIn={() => setFocus(true)}
            onFocusOut={({ currentTarget, relatedTarget }) =>
              setFocus(currentTarget.contains(relatedTarget as Node | null))
            }
          >
            <RequestTable rows={found} />
          </div>
        ) : (
          <p class="state">
            {rows.length > 0
              ? "No request matches this filter."
              : totals === undefined
                ? "Connecting to the receiver."
                : `No webhook request has arrived yet. The receiver expects them at ${readPublicUrl()}.`}
          </p>
        )}
      </div>
      <PendingWaits />
      <RejectedRequests rejections={totals?.rejections ?? []} />
    </section>
  );
}

/** Whether a row must not go: it is open or ticked. */
const isUsed = ({ id }: RequestRow) => id === place.value.id || selectedRequests.value.includes(id);

/** The newest rows, and the held ones that are used. */
function listNewest(hold: readonly RequestRow[]): readonly RequestRow[] {
  const { rows } = live.value;
  return [...rows, ...hold.filter((row) => isUsed(row) && rows.every(({ id }) => id !== row.id))];
}

/**
 * The rows to show: while one of them is used, those that are held, but as they are now. A new search
 * or filter is of all rows, and what a search has found is never held back.
 */
function useShownRows(hasFocus: boolean): readonly RequestRow[] {
  const { rows, seen } = live.value;
  const { query } = place.value;
  const asked = query.toString();
  const lastAsked = useRef(asked);
  const hold = held.value;
  const newest = new Map(rows.map((row) => [row.id, row]));
  const known = hold === undefined ? rows : hold.rows.map((row) => newest.get(row.id) ?? row);
  const found = findFoundIds(query.get("q") ?? "").flatMap((id) => newest.get(id) ?? []);
  const late = found.filter((row) => !known.includes(row));
  const isRead = hasFocus || known.some(isUsed);
  useLayoutEffect(() => {
    const isAsked = lastAsked.current !== asked;
    lastAsked.current = asked;
    if (isRead && hold === undefined) held.value = { rows, seen };
    else if (!isRead && hold !== undefined) held.value = undefined;
    else if (isAsked && hold !== undefined) held.value = { rows: listNewest(hold.rows), seen };
  });
  return late.length === 0 ? known : [...known, ...late].toSorted((a, b) => b.atMs - a.atMs);
}

/** Shows the requests that have arrived since the list is held. */
function NewRequestsButton({ release }: { release: () => void }) {
  const hold = held.value;
  const { seen } = live.value;
  const newCount = hold === undefined ? 0 : seen - hold.seen;
  if (hold === undefined || newCount === 0) return null;
  const count = formatCount(newCount);
  const label =
    newCount > MAX_ROWS ? `Show the last ${MAX_ROWS} of ${count} new` : `Show ${count} new`;
  const show = () => {
    release();
    held.value = { rows: listNewest(hold.rows), seen };
  };
  return <Button label={label} run={show} />;
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

function TotalCards() {
  const { totals, totalsAtMs } = live.value;
  if (totals === undefined) return null;
  const { received, sinceMs, byResult, byCode, waits } = totals;
  const [[topCode, topCount] = ["", 0]] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  const waitedMs = (waits.oldestMs ?? 0) + performance.now() - totalsAtMs;
  return (
    <>
      <Cards
        label="Totals"
        of={{
          Received: { count: received, note: `in the last ${formatAge(Date.now() - sinceMs)}` },
          [settings.hasQueue ? "Stored" : "Handled"]: { count: byResult.handled + byResult.stored },
          Duplicates: { count: byResult.duplicate, note: plural(byResult.conflict, "conflict") },
          "Rejected or failed": {
            count: byResult.rejected + byResult.failed,
            note: topCode === "" ? "none" : `${formatCount(topCount)} × ${topCode}`,
            tone: "bad",
          },
          ...(settings.hasQueue && {
            "Dead letters": { count: queue.value?.deadLetters, tone: "bad" },
          }),
          "Pending waits": {
            count: waits.count,
            note: waits.count === 0 ? "no login waits" : `the oldest for ${formatAge(waitedMs)}`,
          },
        }}
      />
      {totals.rotation.map(({ accountSid, tokens }) => (
        <p class="muted" key={accountSid}>
          {totals.rotation.length > 1 && `${accountSid}: `}
          {tokens.map(describeToken).join("; ")}
        </p>
      ))}
    </>
  );
}

function describeToken({ count, lastAtMs }: TokenUse["tokens"][number], index: number): string {
  const last = lastAtMs === undefined ? "" : `, the last at ${formatDate(lastAtMs)}`;
  return `token ${index + 1}: ${plural(count, "request")}${last}`;
}

function TestEvent() {
  const [sent, setSent] = useState({ text: "", status: 0, uuid: "" });
  async function submit(data: FormData): Promise<string> {
    const body = Object.fromEntries(data);
    const result = await send<TestEventResult>("POST", "console/test-event", body);
    const { status = 0, durationMs, failure, uuid } = result;
    const text =
      status === 0
        ? `No response: ${failure}.`
        : `The receiver responded ${status} in ${formatDuration(durationMs)}.`;
    setSent({ text, status, uuid });
    await changes.reload();
    return text;
  }
  return (
    <Dialog title="Send a test event" action="Send test event" staysOpen submit={submit}>
      <p>
        The server signs it as the service does. <b>Your handlers run for it</b>; its user and its
        SIDs do not exist.
      </p>
      {settings.receiver?.hasConfirm === true && (
        <p>
          confirm rejects an invented challenge. Its 403, or with a queue no run of a handler,
          proves all before confirm; "Rehearse a login" proves the rest.
        </p>
      )}
      <Choices
        legend="Event type"
        name="type"
        options={toOptions(settings.eventTypes)}
        chosen={["challenge.approved"]}
      />
      <Choices
        legend="Send to"
        name="via"
        options={{
          direct: "the receiver in this process: tests it and its handlers",
          network: `publicUrl, which also tests DNS, TLS, proxies and the mount: ${readPublicUrl()}`,
        }}
        chosen={["direct"]}
      />
      {sent.text !== "" && (
        <Notice tone={sent.status === 200 ? "good" : "bad"} title={sent.text}>
          <code>{sent.uuid}</code>
        </Notice>
      )}
    </Dialog>
  );
}
