import type { ConsoleSettings, RequestResult, RequestRow } from "../console-view";
import { announce, h, replaceContent } from "./dom";
import { formatCount, plural } from "./format";

const ANNOUNCE_AFTER_MS = 700;

/** Which results are shown, the default first. */
const CHOICES: readonly (readonly [label: string, results?: readonly RequestResult[]])[] = [
  ["All"],
  ["Accepted", ["handled", "stored", "duplicate", "conflict"]],
  ["Rejected or failed", ["rejected", "failed"]],
];

/** Chooses the requests that the list shows: by result or code, and by a text that is searched. */
export interface RequestFilter {
  /** Buttons that choose the results. */
  choices: HTMLElement;
  search: HTMLInputElement;
  /** Buttons that choose one code. */
  codes: HTMLElement;
  matches(row: RequestRow): boolean;
  /** Shows a button for each code, the most frequent first. */
  showCodes(byCode: Readonly<Record<string, number>>): void;
  /** Shows all requests again. */
  reset(): void;
}

/** Creates the filter; `onChange` applies it, and returns how many requests it shows. */
export function createRequestFilter(
  { reveals }: ConsoleSettings,
  onChange: () => number,
): RequestFilter {
  let results: readonly RequestResult[] | undefined;
  let code: string | undefined;
  let announceTimer: number | undefined;
  let countByCode: Readonly<Record<string, number>> = {};
  // A masked identity is not searched: a search for the identity itself would not find it.
  const label = reveals ? "Find by uuid, SID or entity" : "Find by uuid or SID";
  const search = h("input", {
    type: "search",
    class: "search",
    "aria-label": label,
    placeholder: label,
    autocomplete: "off",
    spellcheck: "false",
    input: find,
  });
  const buttons = CHOICES.map(([name], index) =>
    h("button", { type: "button", class: "chip", click: () => choose(index) }, name),
  );
  const codes = h("div", { class: "codes", hidden: true });

  function find(): void {
    const count = onChange();
    clearTimeout(announceTimer);
    announceTimer = setTimeout(
      () => announce(`${plural(count, "request")} found.`),
      ANNOUNCE_AFTER_MS,
    );
  }

  function choose(index: number): void {
    results = CHOICES[index]?.[1];
    showPressed(index);
    chooseCode(undefined);
  }

  function showPressed(index: number): void {
    for (const [at, button] of buttons.entries()) {
      button.setAttribute("aria-pressed", String(at === index));
    }
  }

  function chooseCode(next: string | undefined): void {
    code = next;
    renderCodes();
    onChange();
  }

  function renderCodes(): void {
    const entries = Object.entries(countByCode).toSorted((a, b) => b[1] - a[1]);
    codes.hidden = entries.length === 0;
    replaceContent(
      codes,
      h("span", { class: "label", id: "codes-label" }, "By code"),
      h(
        "div",
        { class: "chips", role: "group", "aria-labelledby": "codes-label" },
        entries.map(([name, count]) =>
          h(
            "button",
            {
              type: "button",
              class: "chip code",
              "data-focus": name,
              "aria-pressed": String(name === code),
              click: () => chooseCode(name === code ? undefined : name),
            },
            name,
            " ",
            h("b", {}, formatCount(count)),
          ),
        ),
      ),
    );
  }

  function isFound({ uuid, accountSid, factorSid, challengeSid, entity }: RequestRow): boolean {
    const sought = search.value.trim().toLowerCase();
    const texts = [uuid, accountSid, factorSid, challengeSid, reveals ? entity : undefined];
    return sought === "" || texts.some((text) => text?.toLowerCase().includes(sought) === true);
  }

  showPressed(0);
  return {
    choices: h("div", { class: "chips", role: "group", "aria-label": "Show" }, buttons),
    search,
    codes,
    matches(row) {
      const isChosen =
        code === undefined ? results?.includes(row.result) !== false : row.code === code;
      return isChosen && isFound(row);
    },
    showCodes(byCode) {
      countByCode = byCode;
      renderCodes();
    },
    reset() {
      search.value = "";
      choose(0);
    },
  };
}
