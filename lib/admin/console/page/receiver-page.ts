import type { LiveUpdate, RequestRow, Totals } from "../console-view";
import { showCard } from "./card";
import type { Context, ConsolePage } from "./context";
import { announce, h, replaceContent } from "./dom";
import { formatAge, formatCount, formatDuration, plural } from "./format";
import { connectLive, type LiveState } from "./live";
import { createNotices } from "./notices";
import { createRequestFilter } from "./request-filter";
import { createRequestTable } from "./request-table";
import { openTestEventDialog } from "./test-event";

const ANNOUNCE_EVERY_MS = 5_000;

/** Creates the page of the receiver: what arrives, what is rejected, and why. */
export function createReceiverPage(
  context: Context,
  onState: (state: LiveState) => void,
): ConsolePage {
  const { settings } = context;
  const cards = h("dl", { class: "cards", "aria-label": "Totals" });
  const filter = createRequestFilter(settings, () => table.applyFilter());
  const table = createRequestTable(context, filter.matches);
  const notices = createNotices(context, (id) => {
    filter.reset();
    table.reveal(id);
  });
  const pause = h(
    "button",
    { type: "button", "aria-pressed": "false", click: togglePause },
    "Pause",
  );
  let paused: LiveUpdate[] | undefined;
  let totals: Totals | undefined;
  let totalsAtMs = 0;
  let unannounced: RequestRow[] = [];
  let announceTimer: number | undefined;

  const element = h(
    "section",
    { "aria-labelledby": "receiver-title" },
    h("h2", { id: "receiver-title", class: "unseen", tabindex: -1 }, "Receiver"),
    notices.element,
    cards,
    h(
      "div",
      { class: "panel" },
      h(
        "div",
        { class: "panel-head" },
        h("h3", {}, "Requests"),
        filter.choices,
        filter.search,
        h(
          "div",
          { class: "buttons" },
          pause,
          settings.receiver?.canSendTest === true &&
            h(
              "button",
              { type: "button", class: "primary", click: () => openTestEventDialog(context) },
              "Send test event",
            ),
        ),
      ),
      filter.codes,
      table.element,
    ),
  );

  function togglePause(): void {
    const waiting = paused;
    paused = waiting === undefined ? [] : undefined;
    for (const update of waiting ?? []) apply(update);
    renderPause();
  }

  function renderPause(): void {
    const count = new Set(paused?.flatMap(({ rows }) => rows.map(({ id }) => id))).size;
    pause.setAttribute("aria-pressed", String(paused !== undefined));
    pause.textContent =
      paused === undefined ? "Pause" : count === 0 ? "Resume" : `Resume, ${count} new`;
  }

  function receive(update: LiveUpdate): void {
    if (paused === undefined) return apply(update);
    // Of a paused page, only what one page of rows can hold is kept.
    paused = update.isComplete ? [update] : [...paused, update].slice(-50);
    renderPause();
  }

  function apply(update: LiveUpdate): void {
    table.update(update.rows, update.isComplete);
    totals = update.totals;
    totalsAtMs = performance.now();
    renderTotals(update.totals);
    notices.render(table.listRows(), update.totals);
    if (update.isComplete) return;
    unannounced.push(...update.rows);
    announceTimer ??= setTimeout(announceRows, ANNOUNCE_EVERY_MS);
  }

  function announceRows(): void {
    announceTimer = undefined;
    const bad = unannounced.filter(({ result }) => result === "rejected" || result === "failed");
    const text = `${plural(unannounced.length, "new request")}, ${bad.length} rejected or failed.`;
    unannounced = [];
    if (!document.hidden && !element.hidden) announce(text);
  }

  function renderTotals({ byResult, byCode, ...rest }: Totals): void {
    const [[topCode, topCount] = []] = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
    const bad = byResult.rejected + byResult.failed;
    const age = rest.waits.oldestMs;
    const waitedMs = age === undefined ? undefined : age + performance.now() - totalsAtMs;
    const isStored = byResult.stored > 0 || settings.hasQueue;
    replaceContent(
      cards,
      countCard("Received", rest.received, `in the last ${formatAge(Date.now() - rest.sinceMs)}`),
      countCard(
        isStored ? "Stored" : "Handled",
        byResult.handled + byResult.stored,
        rest.p95Ms === undefined ? "no request yet" : `95 % within ${formatDuration(rest.p95Ms)}`,
        "good",
      ),
      countCard("Duplicates", byResult.duplicate, plural(byResult.conflict, "conflict"), "warn"),
      countCard(
        "Rejected or failed",
        bad,
        topCode === undefined ? "none" : `${formatCount(topCount ?? 0)} × ${topCode}`,
        "bad",
      ),
      countCard(
        "Pending waits",
        rest.waits.count,
        waitedMs === undefined ? "no login waits" : `the oldest for ${formatAge(waitedMs)}`,
      ),
    );
    filter.showCodes(byCode);
  }

  table.setLoading();
  connectLive(receive, onState);
  // Ages grow while nothing happens.
  setInterval(() => {
    if (totals !== undefined && paused === undefined && !element.hidden) renderTotals(totals);
  }, 5_000);

  return { id: "receiver", title: "Receiver", element, show() {} };
}

function countCard(label: string, count: number, note: string, tone = ""): HTMLElement {
  return showCard(label, formatCount(count), note, count > 0 ? tone : "");
}
