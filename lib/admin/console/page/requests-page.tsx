import { Button } from "./action";
import { Cards, EmptyState, Section } from "./blocks";
import { openDialog } from "./dialog";
import { ExportButtons } from "./export";
import { formatAge, formatCount, formatDuration, plural } from "./format";
import { live, togglePause } from "./live";
import { Notices } from "./notices";
import { Received } from "./received";
import { CodeFilter, filterRows, RequestFilter } from "./request-filter";
import { RequestTable } from "./request-table";
import { place } from "./route";
import { readPublicUrl, settings } from "./settings";
import { useEvery, useStore } from "./store";
import { TestEvent } from "./test-event";
import { TrafficChart } from "./traffic-chart";

/** The page of the receiver: what arrives, what is rejected, and why. */
export function RequestsPage() {
  const { rows, totals, heldCount } = useStore(live);
  const found = filterRows(rows, useStore(place).query);
  const held = (heldCount ?? 0) === 0 ? "Resume" : `Resume, ${heldCount} new`;
  return (
    <Section title="Receiver">
      <Notices rows={rows} totals={totals} />
      <TotalCards />
      {totals !== undefined && totals.received > 0 && <TrafficChart />}
      <div class="panel">
        <div class="panel-head">
          <h3>
            Requests <small>of process {settings.process}</small>
          </h3>
          <RequestFilter foundCount={found.length} />
          <div class="buttons">
            <Button aria-pressed={heldCount !== undefined} run={togglePause}>
              {heldCount === undefined ? "Pause" : held}
            </Button>
            {found.length > 0 && <ExportButtons rows={found} />}
            {settings.receiver?.canSendTest === true && (
              <Button class="primary" run={() => openDialog(<TestEvent />)}>
                Send test event
              </Button>
            )}
          </div>
        </div>
        <CodeFilter byCode={totals?.byCode ?? {}} />
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
    </Section>
  );
}

function TotalCards() {
  const { totals } = useStore(live);
  // Ages grow while nothing happens.
  useEvery(5_000, () => live.set({ ...live.value }));
  if (totals === undefined) return null;
  const { byResult, byCode, waits, p95Ms } = totals;
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
          p95Ms === undefined
            ? "no request yet"
            : `95 % of responses within ${formatDuration(p95Ms)}`,
          "good",
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
