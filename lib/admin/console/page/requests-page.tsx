import { Cards } from "./cards";
import { openDialog } from "./dialog";
import { formatAge, formatCount, formatDuration, plural } from "./format";
import { live, togglePause } from "./live";
import { Notices } from "./notices";
import { EmptyState, Received } from "./received";
import { CodeFilter, filterRows, RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { place } from "./route";
import { readPublicUrl, settings } from "./settings";
import { useClock, useStore } from "./store";
import { TestEvent } from "./test-event";

/** The page of the receiver: what arrives, what is rejected, and why. */
export function RequestsPage() {
  const { rows, totals, heldCount } = useStore(live);
  const { query } = useStore(place);
  const found = filterRows(rows, query);
  return (
    <section aria-labelledby="requests-title">
      <h2 id="requests-title" class="unseen" tabIndex={-1}>
        Receiver
      </h2>
      <Notices rows={rows} totals={totals} />
      <TotalCards />
      <div class="panel">
        <div class="panel-head">
          <h3>Requests</h3>
          <RequestFilter foundCount={found.length} />
          <div class="buttons">
            <button type="button" aria-pressed={heldCount !== undefined} onClick={togglePause}>
              {heldCount === undefined
                ? "Pause"
                : heldCount === 0
                  ? "Resume"
                  : `Resume, ${heldCount} new`}
            </button>
            {settings.receiver?.canSendTest === true && (
              <button type="button" class="primary" onClick={() => openDialog(<TestEvent />)}>
                Send test event
              </button>
            )}
          </div>
        </div>
        <CodeFilter byCode={totals?.byCode ?? {}} />
        {found.length > 0 ? (
          <RequestTable rows={found} />
        ) : totals === undefined ? (
          <p class="state">Connecting to the receiver.</p>
        ) : rows.length > 0 ? (
          <p class="state">No request matches this filter.</p>
        ) : (
          <EmptyState title="No webhook request has arrived yet.">
            <p>
              The service sends them to{" "}
              <code>
                <Received text={readPublicUrl()} />
              </code>
              .
            </p>
            <p>This list begins when the app starts and holds the last 200.</p>
          </EmptyState>
        )}
      </div>
    </section>
  );
}

function TotalCards() {
  const { totals, totalsAtMs } = useStore(live);
  useClock(5_000);
  if (totals === undefined) return null;
  const { byResult, byCode, waits, p95Ms } = totals;
  const [[topCode, topCount] = ["", 0]] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  const waitedMs = (waits.oldestMs ?? 0) + performance.now() - totalsAtMs;
  return (
    <Cards
      label="Totals"
      figures={[
        {
          label: "Received",
          count: totals.received,
          note: `in the last ${formatAge(Date.now() - totals.sinceMs)}`,
        },
        {
          label: byResult.stored > 0 || settings.hasQueue ? "Stored" : "Handled",
          count: byResult.handled + byResult.stored,
          note:
            p95Ms === undefined
              ? "no request yet"
              : `95 % of responses within ${formatDuration(p95Ms)}`,
          tone: "good",
        },
        {
          label: "Duplicates",
          count: byResult.duplicate,
          note: plural(byResult.conflict, "conflict"),
          tone: "warn",
        },
        {
          label: "Rejected or failed",
          count: byResult.rejected + byResult.failed,
          note: topCode === "" ? "none" : `${formatCount(topCount)} × ${topCode}`,
          tone: "bad",
        },
        {
          label: "Pending waits",
          count: waits.count,
          note: waits.count === 0 ? "no login waits" : `the oldest for ${formatAge(waitedMs)}`,
        },
      ]}
    />
  );
}
