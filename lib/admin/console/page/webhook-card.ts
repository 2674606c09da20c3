import type { Webhook } from "../../client/webhook";
import { actionButton } from "./action-button";
import { send } from "./api";
import type { Context } from "./context";
import { openDialog } from "./dialog";
import { h, received, type Child } from "./dom";
import { showFinding } from "./findings";
import { formatDate } from "./format";
import { openWebhookForm } from "./webhook-form";

/** Shows a webhook with its buttons, its fields and the findings about it. */
export function showWebhook(webhook: Webhook, context: Context): HTMLElement {
  const { sid, friendly_name, status, version } = webhook;
  const { settings, webhooks: shared } = context;
  const titleId = `name-${sid}`;
  const findings = shared.state?.findings.filter((finding) => finding.sid === sid) ?? [];
  return h(
    "article",
    { class: "panel", "aria-labelledby": titleId },
    h(
      "div",
      { class: "panel-head" },
      h("h3", { id: titleId }, received(friendly_name)),
      h(
        "span",
        { class: "pills" },
        h("span", { class: `pill ${status === "enabled" ? "good" : "off"}` }, received(status)),
        " ",
        h("span", { class: "pill info" }, received(version)),
      ),
      !settings.readOnly && showButtons(webhook, titleId, context),
    ),
    showFields(webhook),
    findings.map((finding) =>
      showFinding(finding, webhook, context, () => confirmDelete(webhook, context)),
    ),
  );
}

function showButtons(webhook: Webhook, titleId: string, context: Context): HTMLElement {
  const { sid, status } = webhook;
  return h(
    "div",
    { class: "buttons" },
    h(
      "button",
      {
        type: "button",
        "data-focus": `edit ${sid}`,
        "aria-describedby": titleId,
        click: () => openWebhookForm(context, webhook),
      },
      "Edit",
    ),
    actionButton(status === "enabled" ? "Disable" : "Enable", () => toggle(webhook, context), {
      focus: `toggle ${sid}`,
    }),
    h(
      "button",
      {
        type: "button",
        class: "danger",
        "aria-describedby": titleId,
        click: () => confirmDelete(webhook, context),
      },
      "Delete",
    ),
  );
}

function showFields({ sid, webhook_url, event_types, webhook_method, date_updated }: Webhook) {
  const types = (event_types ?? []).map((type) => [
    h("span", { class: "pill info" }, type === "*" ? "* all events" : received(type)),
    " ",
  ]);
  return h(
    "dl",
    { class: "facts wide" },
    showField("URL", received(webhook_url, "mono")),
    showField("Events", h("span", { class: "pills" }, types)),
    webhook_method !== "POST" && showField("Method", received(webhook_method)),
    showField("SID", h("span", { class: "mono" }, sid)),
    showField("Updated", formatDate(date_updated)),
  );
}

function showField(name: string, value: Child): Child {
  return [h("dt", {}, name), h("dd", {}, value)];
}

async function toggle({ sid, status }: Webhook, { webhooks }: Context): Promise<string> {
  const next = status === "enabled" ? "disabled" : "enabled";
  await send("PATCH", `webhooks/${sid}`, { status: next });
  await webhooks.reload();
  return `The webhook is ${next}.`;
}

function confirmDelete({ sid, friendly_name, webhook_url }: Webhook, { webhooks }: Context): void {
  openDialog({
    title: "Delete the webhook?",
    content: [
      h(
        "p",
        {},
        h("b", {}, received(friendly_name)),
        " sends events to ",
        h("code", {}, received(webhook_url)),
        ".",
      ),
      h("p", {}, "The service stops sending them at once. This cannot be undone."),
    ],
    action: "Delete webhook",
    isDangerous: true,
    async submit() {
      await send("DELETE", `webhooks/${sid}`);
      await webhooks.reload();
      return "The webhook was deleted.";
    },
  });
}
