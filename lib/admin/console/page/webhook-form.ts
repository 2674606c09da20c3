import type { Webhook } from "../../client/webhook";
import { send } from "./api";
import type { Context } from "./context";
import { openDialog } from "./dialog";
import { h } from "./dom";
import { choices, field } from "./form-fields";

/** Opens the form that creates a webhook, or changes one. */
export function openWebhookForm(context: Context, webhook?: Webhook): void {
  const { settings, webhooks } = context;
  const { receiver } = settings;
  const isNew = webhook === undefined;
  const suggestedUrl = receiver?.isUrlComplete === true ? receiver.publicUrls[0] : undefined;
  const name = h("input", {
    name: "friendly_name",
    required: true,
    autocomplete: "off",
    value: webhook?.friendly_name ?? "",
  });
  const url = h("input", {
    name: "webhook_url",
    type: "url",
    required: true,
    maxlength: 2_048,
    spellcheck: "false",
    autocomplete: "off",
    class: "mono",
    value: webhook?.webhook_url ?? suggestedUrl ?? "",
  });
  const types = createTypeChoice(
    settings.eventTypes,
    webhook?.event_types ?? receiver?.handledTypes ?? [],
  );

  openDialog({
    title: isNew ? "Create a webhook" : "Edit the webhook",
    content: [
      field("Name", name, "A description, without personal data."),
      field("URL", url, "The service signs it byte for byte; it must equal the publicUrl."),
      types.element,
      choices(
        "Version",
        "version",
        [
          ["v2", "v2", "All parameters."],
          ["v1", "v1, legacy", "Without names, details and metadata."],
        ],
        webhook?.version ?? "v2",
      ),
      choices(
        "Status",
        "status",
        [
          ["enabled", "Enabled"],
          ["disabled", "Disabled", "The service sends nothing."],
        ],
        webhook?.status ?? "enabled",
      ),
    ],
    action: isNew ? "Create webhook" : "Save changes",
    async submit(form) {
      const data = new FormData(form);
      const body = {
        friendly_name: data.get("friendly_name"),
        webhook_url: data.get("webhook_url"),
        event_types: types.read(),
        version: data.get("version") ?? undefined,
        status: data.get("status") ?? undefined,
      };
      if (isNew) await send("POST", "webhooks", body);
      else await send("PATCH", `webhooks/${webhook.sid}`, body);
      await webhooks.reload();
      return isNew ? "The webhook was created." : "The changes were saved.";
    },
  });
}

function createTypeChoice(eventTypes: readonly string[], chosen: readonly string[]) {
  const all = h("input", {
    type: "checkbox",
    value: "*",
    checked: chosen.includes("*"),
    change: update,
  });
  const boxes = eventTypes.map((value) =>
    h("input", { type: "checkbox", value, checked: chosen.includes(value), change: update }),
  );

  /** `*` includes all types, and those of the future. */
  function update(): void {
    for (const box of boxes) box.disabled = all.checked;
    const isMissing = !all.checked && boxes.every(({ checked }) => !checked);
    all.setCustomValidity(isMissing ? "Choose at least one event type." : "");
  }

  update();
  return {
    element: h(
      "fieldset",
      {},
      h("legend", {}, "Event types"),
      h(
        "label",
        { class: "choice" },
        all,
        h(
          "span",
          {},
          "All events ",
          h("code", {}, "*"),
          h("small", {}, "Also types of the future."),
        ),
      ),
      h(
        "div",
        { class: "types" },
        boxes.map((box) => h("label", { class: "choice" }, box, h("code", {}, box.value))),
      ),
    ),
    read: () =>
      all.checked ? ["*"] : boxes.filter(({ checked }) => checked).map(({ value }) => value),
  };
}
