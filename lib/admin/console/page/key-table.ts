import type { Key } from "../../client/key";
import type { ConsoleSettings } from "../console-view";
import { h, received } from "./dom";
import { formatDate } from "./format";
import { openRename, openRevoke } from "./key-dialogs";

/**
 * Shows keys, with buttons to rename and revoke them unless the console is read-only. The key that the
 * app itself uses has no button to revoke it.
 */
export function showKeyTable(
  keys: readonly Key[],
  { readOnly, keySid }: ConsoleSettings,
  reload: () => Promise<void>,
): HTMLElement {
  function showRow(key: Key): HTMLElement {
    const { sid, friendly_name } = key;
    const nameId = `name-${sid}`;
    const isInUse = sid === keySid;
    return h(
      "div",
      { role: "row", class: "line" },
      h(
        "span",
        { role: "cell", class: "name" },
        h("span", { id: nameId }, received(friendly_name)),
        isInUse && [" ", h("span", { class: "pill info" }, "in use here")],
      ),
      h("span", { role: "cell", class: "mono sid" }, sid),
      h("span", { role: "cell", class: "created" }, formatDate(key.date_created)),
      h("span", { role: "cell", class: "buttons" }, !readOnly && showButtons(key, nameId, isInUse)),
    );
  }

  function showButtons(key: Key, nameId: string, isInUse: boolean) {
    return [
      h(
        "button",
        {
          type: "button",
          "data-focus": `rename ${key.sid}`,
          "aria-describedby": nameId,
          click: () => openRename(key, reload),
        },
        "Rename",
      ),
      !isInUse &&
        h(
          "button",
          {
            type: "button",
            class: "danger",
            "aria-describedby": nameId,
            click: () => openRevoke(key, reload),
          },
          "Revoke",
        ),
    ];
  }

  return h(
    "div",
    { role: "table", "aria-label": "Keys", class: "keys" },
    h(
      "div",
      { role: "rowgroup" },
      h(
        "div",
        { role: "row", class: "line heads" },
        ["Name", "SID", "Created"].map((name) => h("span", { role: "columnheader" }, name)),
        h("span", { role: "columnheader" }, h("span", { class: "unseen" }, "Actions")),
      ),
    ),
    h("div", { role: "rowgroup" }, keys.map(showRow)),
  );
}
