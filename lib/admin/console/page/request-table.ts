import type { RequestRow } from "../console-view";
import type { Context } from "./context";
import { h, newId, received, replaceContent } from "./dom";
import { createDetails } from "./request-details";
import { fillLine, TONES, type RequestLine } from "./request-line";

const MAX_ROWS = 200;
/** Animations of many rows would keep a processor busy, and point at nothing. */
const MAX_HIGHLIGHTED = 10;

interface ShownRow extends RequestLine {
  /** Undefined while the row is closed. */
  details: HTMLElement | undefined;
}

/** The list of requests that match a filter, the newest first. */
export function createRequestTable(context: Context, matches: (row: RequestRow) => boolean) {
  const shown = new Map<number, ShownRow>();
  const columns = ["Time", "Event", "Entity", "Result", "Attempt", "Token", "Duration"];
  const body = h("div", { role: "rowgroup", class: "rows" });
  const message = h("div", { class: "state" });
  const table = h(
    "div",
    { role: "table", "aria-label": "Webhook requests, the newest first", class: "requests" },
    h(
      "div",
      { role: "rowgroup" },
      h(
        "div",
        { role: "row", class: "line heads" },
        columns.map((name) => h("span", { role: "columnheader", class: name.toLowerCase() }, name)),
        h("span", { role: "columnheader", class: "unseen" }, "Details"),
      ),
    ),
    body,
  );
  let isLoading = false;

  function createRow(row: RequestRow): ShownRow {
    const toggle = h("button", { type: "button", class: "toggle", "aria-expanded": "false" });
    const line = h("div", { role: "row", class: "line" });
    const one: ShownRow = { row, line, toggle, details: undefined };
    line.addEventListener("click", () => {
      // A click that ends a selection of text copies something.
      if (String(getSelection()) === "") setOpen(one, one.details === undefined);
    });
    return one;
  }

  function setOpen(one: ShownRow, isOpen: boolean): void {
    one.toggle.setAttribute("aria-expanded", String(isOpen));
    one.line.classList.toggle("open", isOpen);
    one.details?.remove();
    one.details = undefined;
    if (!isOpen) return one.toggle.removeAttribute("aria-controls");
    const id = newId();
    one.details = h(
      "div",
      { role: "row", class: `details ${TONES[one.row.result]}`, id },
      h("div", { role: "cell", "aria-colspan": 8 }, createDetails(one.row, context)),
    );
    one.toggle.setAttribute("aria-controls", id);
    one.line.after(one.details);
  }

  /** Shows the rows that match the filter; returns how many. */
  function applyFilter(): number {
    let count = 0;
    for (const { row, line, details } of shown.values()) {
      const isShown = matches(row);
      line.hidden = !isShown;
      if (details !== undefined) details.hidden = !isShown;
      if (isShown) count++;
    }
    table.hidden = count === 0;
    message.hidden = count > 0;
    if (isLoading) replaceContent(message, h("p", {}, "Connecting to the receiver."));
    else if (shown.size > 0) replaceContent(message, h("p", {}, "No request matches this filter."));
    else replaceContent(message, describeNoRequests(context));
    return count;
  }

  return {
    element: h("div", {}, table, message),
    listRows: () => [...shown.values()].map(({ row }) => row),
    setLoading(): void {
      isLoading = true;
      applyFilter();
    },
    applyFilter,
    /** Opens a row that the filter shows, and moves the focus to it. */
    reveal(id: number): void {
      const one = shown.get(id);
      if (one === undefined) return;
      if (one.details === undefined) setOpen(one, true);
      one.toggle.focus();
      one.line.scrollIntoView({ block: "center" });
    },
    /** Adds and changes rows, the oldest first; `isComplete` when there are no others. */
    update(rows: readonly RequestRow[], isComplete: boolean): void {
      isLoading = false;
      if (isComplete) removeOthers(rows);
      for (const row of rows) {
        const one = shown.get(row.id) ?? createRow(row);
        const isNew = !shown.has(row.id);
        if (!isNew && one.row.change === row.change) continue;
        one.row = row;
        fillLine(one, context.settings.receiver?.tokenCount);
        if (isNew) {
          shown.set(row.id, one);
          body.prepend(one.line);
          if (!isComplete && rows.length <= MAX_HIGHLIGHTED) one.line.classList.add("new");
        } else if (one.details !== undefined) setOpen(one, true);
      }
      const ids = [...shown.keys()].toSorted((a, b) => a - b);
      for (const id of ids.slice(0, Math.max(0, ids.length - MAX_ROWS))) remove(id);
      applyFilter();
    },
  };

  function removeOthers(rows: readonly RequestRow[]): void {
    // A restarted server counts from 1 again.
    const kept = new Map(rows.map((row) => [row.id, row.atMs]));
    for (const [id, { row }] of shown) if (kept.get(id) !== row.atMs) remove(id);
  }

  function remove(id: number): void {
    const one = shown.get(id);
    one?.line.remove();
    one?.details?.remove();
    shown.delete(id);
  }
}

function describeNoRequests({ settings }: Context): HTMLElement {
  const [url = ""] = settings.receiver?.publicUrls ?? [];
  return h(
    "div",
    {},
    h("p", { class: "state-title" }, "No webhook request has arrived yet."),
    h("p", {}, "The service sends them to ", h("code", {}, received(url)), "."),
    h("p", {}, "This list begins when the app starts and holds the last 200."),
  );
}
