import { useEffect, useRef, useState } from "preact/hooks";
import type { RequestRow, ShownHistory, TestEventResult, TokenUse } from "../console-view";
import { Button } from "./action";
import { readPublicUrl, send, settings } from "./api";
import { Cards, Notice, Time, toOptions } from "./blocks";
import { Choices, Dialog, openDialog } from "./dialog";
import { formatAge, formatCount, formatDate, formatDuration, plural } from "./format";
import { followFilter, isCurrent, journal } from "./journal";
import { FoundLogin, PendingWaits, searchLogin } from "./login-search";
import { Notices, RejectedRequests } from "./notices";
import { describeWaiting, queue } from "./queue-page";
import { RehearseButton } from "./rehearsal";
import { LinkedRequest } from "./request-details";
import { RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { ResendFailedButton } from "./resend";
import { place } from "./route";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: its requests, the rejected ones, and why. */
export function RequestsPage() {
  const { query, isLinked } = place.value;
  useEffect(() => void (isLinked && searchLogin(query.get("q") ?? "")), [query]);
  useEffect(followFilter);
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
        <RejectedRequests rejections={shown.totals.rejections} />,
      ]}
      <RequestPanel shown={shown} />
      <PendingWaits />
    </section>
  );
}

/** The list with its filters. */
function RequestPanel({ shown }: { shown: ShownHistory | undefined }) {
  const [hasFocus, setFocus] = useState(false);
  const { rows, more, release } = useShownRows(shown?.rows ?? [], hasFocus);
  const { found = 0, dropped = 0 } = shown ?? {};
  const { id } = place.value;
  const show = () => {
    setFocus(false);
    release();
  };
  return (
    <>
      {id !== undefined && shown && rows.every((row) => row.id !== id) && (
        <LinkedRequest key={id} id={id} />
      )}
      <div class="panel">
        <div class="panel-head">
          <h3>
            Requests <small>{shown && describeSource(shown)}</small>
          </h3>
          <small role="status">
            {place.value.query.size > 0 &&
              (isCurrent() ? `${plural(found, "request")} found.` : "Searching.")}
          </small>
          <div class="buttons">
            {shown && <ResendFailedButton failed={shown.failed} />}
            {more > 0 && <Button label={`Show ${formatCount(more)} new`} run={show} />}
            {rows.length > 0 && <Button label="Export JSONL" run={() => download(rows)} />}
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
        {rows.length > 0 ? (
          <div
            onFocusIn={() => setFocus(true)}
            onFocusOut={({ currentTarget, relatedTarget }) =>
              setFocus(currentTarget.contains(relatedTarget as Node | null))
            }
          >
            <RequestTable rows={rows} />
          </div>
        ) : (
          <p class="state">{describeNone(shown)}</p>
        )}
        {/* Always: a page that grows at its end may move what is read. */}
        {rows.length > 0 && (
          <p class="state">
            The newest {rows.length} of {formatCount(found)}.
          </p>
        )}
        {dropped > 0 && (
          <p class="state">{formatCount(dropped)} more arrived too fast to be listed.</p>
        )}
      </div>
    </>
  );
}

function describeSource({ isShared, sinceMs }: ShownHistory) {
  return [
    isShared ? "of all processes" : `of process ${journal.value?.process}`,
    ", since ",
    <Time atMs={sinceMs} />,
  ];
}

function describeNone(shown: ShownHistory | undefined): string {
  if (shown === undefined) return "Connecting to the receiver.";
  if (shown.totals.received > 0) return "No request matches this filter.";
  return `No webhook request has arrived yet. The receiver expects them at ${readPublicUrl()}.`;
}

/**
 * The rows to show: those that were shown, as they are now, while one of them is open or focused,
 * so that no row moves under the pointer; of another filter always the newest.
 */
function useShownRows(newest: readonly RequestRow[], hasFocus: boolean) {
  const latest = { rows: newest, query: journal.value?.query };
  const kept = useRef(latest);
  const [, draw] = useState({});
  const isHeld = hasFocus || kept.current.rows.some(({ id }) => id === place.value.id);
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
            note: hasQueue && plural(totals.attempts.failed, "failed attempt"),
          },
          Duplicates: { count: byResult.duplicate, note: plural(byResult.conflict, "conflict") },
          "Rejected or failed": {
            count: byResult.rejected + byResult.failed,
            note: topCode === "" ? "none" : `${formatCount(topCount)} × ${topCode}`,
            tone: "bad",
          },
          ...(hasQueue && {
            Waiting: { count: queue.value?.waiting, note: describeWaiting() },
            "Dead letters": { count: queue.value?.deadLetters, tone: "bad" },
          }),
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
    await journal.reload();
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
          confirm rejects its invented challenge, with a queue before a handler runs: "Rehearse a
          login" proves the rest.
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
