import type { Key } from "../../client/key";
import { send } from "./api";
import { KEEP_OPEN, openDialog } from "./dialog";
import { h, received, visible } from "./dom";
import { field } from "./form-fields";

/** A name that is longer than this, or has invisible characters, cannot be typed again. */
const MAX_TYPED = 40;

/** Opens the dialog that renames a key. */
export function openRename({ sid, friendly_name }: Key, reload: () => Promise<void>): void {
  const name = h("input", {
    name: "friendly_name",
    maxlength: 64,
    autocomplete: "off",
    value: friendly_name ?? "",
  });
  openDialog({
    title: "Rename the key",
    content: [field("Name", name, "Up to 64 characters."), h("p", { class: "mono muted" }, sid)],
    action: "Rename key",
    async submit() {
      await send("PATCH", `keys/${sid}`, { friendly_name: name.value });
      await reload();
      return "The key was renamed.";
    },
  });
}

/** Opens the dialog that revokes a key once its name was typed. */
export function openRevoke({ sid, friendly_name }: Key, reload: () => Promise<void>): void {
  const isTypable =
    friendly_name !== null &&
    friendly_name !== "" &&
    friendly_name.trim() === friendly_name &&
    friendly_name.length <= MAX_TYPED &&
    visible(friendly_name) === friendly_name;
  const wanted = isTypable ? friendly_name : sid;
  const typed: HTMLInputElement = h("input", {
    required: true,
    autocomplete: "off",
    spellcheck: "false",
    input: () => typed.setCustomValidity(""),
  });
  openDialog({
    title: "Revoke the key?",
    content: [
      h(
        "p",
        {},
        h("b", {}, received(friendly_name)),
        " stops working at once, wherever it is in use. This cannot be undone.",
      ),
      h("p", { class: "mono muted" }, sid),
      field(`Type "${wanted}" to confirm`, typed),
    ],
    action: "Revoke key",
    isDangerous: true,
    async submit(form) {
      if (typed.value !== wanted) {
        typed.setCustomValidity(`Type exactly "${wanted}".`);
        form.reportValidity();
        return KEEP_OPEN;
      }
      await send("DELETE", `keys/${sid}`);
      await reload();
      return "The key was revoked.";
    },
  });
}
