import type { RequestResult, RequestRow } from "../console-view";
import { h, received, replaceContent } from "./dom";
import { formatDuration, formatTime } from "./format";

/** The class of each result. */
export const TONES: Record<RequestResult, string> = {
  handled: "good",
  stored: "good",
  duplicate: "warn",
  conflict: "warn",
  rejected: "bad",
  failed: "bad",
};

/** The elements of one line. */
export interface RequestLine {
  row: RequestRow;
  line: HTMLElement;
  toggle: HTMLButtonElement;
}

/** Fills the line of a request with its cells. */
export function fillLine({ row, line, toggle }: RequestLine, tokenCount: number | undefined): void {
  const { time, milliseconds } = formatTime(row.atMs);
  const { tokenIndex, result, status, code: errorCode } = row;
  const label = errorCode ?? result;
  toggle.setAttribute("aria-label", `Details of ${time}, ${row.type ?? "not verified"}, ${label}`);
  const of = tokenCount === undefined ? "" : ` of ${tokenCount}`;
  // Without a rotation the token of every request is the same.
  const isTokenIdle = tokenIndex === undefined || tokenCount === 1;
  // An unverified request has no uuid, so its deliveries cannot be counted.
  const attempt = row.uuid === undefined ? "–" : row.attempt;
  line.className = `line ${TONES[result]}`;
  replaceContent(
    line,
    h(
      "time",
      { role: "cell", class: "time", datetime: new Date(row.atMs).toISOString() },
      time,
      h("span", { class: "milliseconds" }, `.${milliseconds}`),
    ),
    h(
      "span",
      { role: "cell", class: "event" },
      row.type === undefined ? h("span", { class: "muted" }, "not verified") : received(row.type),
      row.version !== undefined && h("span", { class: "muted" }, ` ${row.version}`),
      row.isTest && h("span", { class: "pill info" }, "test"),
    ),
    h(
      "span",
      { role: "cell", class: row.entity === undefined ? "entity idle" : "entity" },
      row.entity === undefined ? "–" : received(row.entity),
    ),
    h(
      "span",
      { role: "cell", class: "result" },
      h("span", { class: `pill ${TONES[result]}` }, `${status} ${label}`),
    ),
    h(
      "span",
      { role: "cell", class: row.attempt === 1 ? "attempt idle" : "attempt" },
      h("span", { class: "key" }, "attempt "),
      attempt,
    ),
    h(
      "span",
      { role: "cell", class: isTokenIdle ? "token idle" : "token" },
      tokenIndex === undefined
        ? "–"
        : [h("span", { class: "key" }, "token "), `${tokenIndex + 1}${of}`],
    ),
    h("span", { role: "cell", class: "duration" }, formatDuration(row.durationMs)),
    h("span", { role: "cell", class: "toggle-cell" }, toggle),
  );
}
