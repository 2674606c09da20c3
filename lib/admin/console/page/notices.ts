import type { RequestRow, TokenUse, Totals } from "../console-view";
import type { Context } from "./context";
import { h, received, replaceContent, type Child } from "./dom";
import { formatTime, plural, shortenSid } from "./format";

/** What needs attention above the list: mismatches, a rotation, conflicts. */
export function createNotices(_context: Context, revealRow: (id: number) => void) {
  const element = h("div", { class: "notices" });
  let rendered = "";

  function describeMismatch(rows: readonly RequestRow[]): Child {
    const rejected = rows.filter(({ code }) => code === "SIGNATURE_MISMATCH");
    const newest = newestOf(rejected);
    if (newest === undefined) return undefined;
    const explained = newestOf(rejected.filter(({ explanation }) => explanation !== undefined));
    const shown = explained ?? newest;
    return h(
      "div",
      { class: "notice bad" },
      h(
        "p",
        {},
        h(
          "b",
          {},
          `${plural(rejected.length, "request")} of the last ${rows.length} had a wrong signature. `,
        ),
        explained?.explanation?.cause ?? "Open the request to find the cause.",
      ),
      h(
        "button",
        { type: "button", "data-focus": "mismatch", click: () => revealRow(shown.id) },
        "Show the request",
      ),
    );
  }

  function describeConflicts(rows: readonly RequestRow[]): Child {
    const conflicts = rows.filter(({ result }) => result === "conflict");
    const newest = newestOf(conflicts);
    if (newest === undefined) return undefined;
    return h(
      "div",
      { class: "notice warn" },
      h(
        "p",
        {},
        h("b", {}, `${plural(conflicts.length, "request")} reused a uuid with other content. `),
        "Only the first was handled.",
      ),
      h(
        "button",
        { type: "button", "data-focus": "conflict", click: () => revealRow(newest.id) },
        "Show the request",
      ),
    );
  }

  return {
    element,
    render(rows: readonly RequestRow[], { rotation }: Totals): void {
      const key = JSON.stringify([
        rows.map(({ id, code, result, explanation }) => [id, code, result, explanation?.code]),
        rotation,
      ]);
      // The same words again would take the focus and the selection.
      if (key === rendered) return;
      rendered = key;
      replaceContent(
        element,
        describeMismatch(rows),
        rotation.map(describeRotation),
        describeConflicts(rows),
      );
    },
  };
}

function newestOf(rows: readonly RequestRow[]): RequestRow | undefined {
  return rows.reduce<RequestRow | undefined>(
    (newest, row) => (newest === undefined || row.id > newest.id ? row : newest),
    undefined,
  );
}

/** Token 1 is the new one; the others are older. */
function describeRotation({ accountSid, tokens }: TokenUse): HTMLElement {
  const total = tokens.reduce((sum, { count }) => sum + count, 0);
  const old = tokens.slice(1).reduce((sum, { count }) => sum + count, 0);
  const lastAtMs = Math.max(...tokens.slice(1).map((token) => token.lastAtMs ?? 0));
  const account = h("span", { class: "mono", title: accountSid }, received(shortenSid(accountSid)));
  const list = tokens.map(({ count }, index) => `token ${index + 1}: ${count}`).join(", ");
  if (old === 0) {
    return h(
      "div",
      { class: "notice good" },
      h(
        "p",
        {},
        h("b", {}, `The last ${plural(total, "request")} used token 1. `),
        "Account ",
        account,
        " no longer uses the older token. When a day has passed, remove it from authToken.",
      ),
    );
  }
  return h(
    "div",
    { class: "notice warn" },
    h(
      "p",
      {},
      h("b", {}, `${plural(old, "request")} of the last ${total} used an older token. `),
      "The rotation is not finished: account ",
      account,
      ` used it at ${formatTime(lastAtMs).time} (${list}).`,
    ),
  );
}
