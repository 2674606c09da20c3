import type { CreatedKey } from "../../client/key";
import { copyButton } from "./copy-button";
import { h, received, replaceContent } from "./dom";

/** Shows the secret of a new key, once, in a place of its own. */
export function showCreatedKey(
  { sid, friendly_name, secret }: CreatedKey,
  created: HTMLElement,
): void {
  const title = h(
    "p",
    { tabindex: -1 },
    h("b", {}, received(friendly_name)),
    " was created. ",
    h("b", {}, "Store this secret now: it will never be shown again."),
  );
  replaceContent(
    created,
    h(
      "div",
      { class: "notice good secret", role: "group", "aria-label": "New key" },
      title,
      h(
        "dl",
        { class: "facts" },
        h("dt", {}, "SID"),
        h("dd", { class: "mono" }, sid),
        h("dt", {}, "Secret"),
        h(
          "dd",
          {},
          h("code", { id: "secret" }, secret),
          h(
            "span",
            { class: "buttons" },
            copyButton(secret, "the secret"),
            h(
              "button",
              { type: "button", click: () => created.replaceChildren() },
              "I have stored it",
            ),
          ),
        ),
      ),
    ),
  );
  // After the dialog has closed and given the focus back.
  setTimeout(() => title.focus());
}
