import type { Webhook } from "../../client/webhook";
import { describeFailure, send } from "./api";
import type { Context, ConsolePage } from "./context";
import { actionButton, openDialog } from "./dialog";
import { h, received, replaceContent, type Child } from "./dom";
import { showFinding } from "./findings";
import { formatDate } from "./format";
import { openWebhookForm } from "./webhook-form";

/** Creates the page of the webhooks, with what differs between them and the receiver. */
export function createWebhooksPage(context: Context): ConsolePage {
  const { settings, webhooks: shared } = context;
  const list = h("div", { class: "stack", "aria-live": "off" });
  const element = h(
    "section",
    { "aria-labelledby": "webhooks-title" },
    h(
      "div",
      { class: "page-head" },
      h("h2", { id: "webhooks-title", tabindex: -1 }, "Webhooks"),
      h(
        "div",
        { class: "buttons" },
        actionButton("Refresh", async () => {
          await shared.reload();
          return "The list was read again.";
        }),
        !settings.readOnly &&
          h(
            "button",
            { type: "button", class: "primary", click: () => openWebhookForm(context) },
            "Create webhook",
          ),
      ),
    ),
    list,
  );

  function render(): void {
    const { state, error } = shared;
    if (error !== undefined) return replaceContent(list, failure(error));
    if (state === undefined) return replaceContent(list, h("p", { class: "state" }, "Loading."));
    const { webhooks, findings, findingsError } = state;
    const missing = findings.filter(({ sid }) => sid === undefined);
    replaceContent(
      list,
      findingsError !== undefined &&
        h(
          "p",
          { class: "notice bad" },
          `The comparison with the receiver failed. ${describeFailure(findingsError)}`,
        ),
      missing.length > 0 && notConfigured(),
      webhooks.map(showWebhook),
      webhooks.length === 0 &&
        h(
          "div",
          { class: "panel state" },
          h("p", { class: "state-title" }, "The service has no webhook yet."),
          h("p", {}, "Without one it sends no events."),
        ),
    );
  }

  function failure(error: unknown): Child {
    return h(
      "div",
      { class: "panel state" },
      h("p", { class: "state-title" }, "The webhooks could not be read."),
      h("p", {}, describeFailure(error)),
      actionButton("Try again", async () => {
        await shared.reload();
        return undefined;
      }),
    );
  }

  function notConfigured(): Child {
    const [publicUrl = ""] = settings.receiver?.publicUrls ?? [];
    return h(
      "div",
      { class: "finding bad panel" },
      h(
        "div",
        { class: "finding-text" },
        h("p", { class: "cause" }, "No webhook has the publicUrl of the receiver."),
        h("p", {}, "The service sends nothing to ", h("code", {}, received(publicUrl)), "."),
      ),
      !settings.readOnly &&
        h(
          "button",
          {
            type: "button",
            class: "primary",
            "data-focus": "create-for-url",
            click: () => openWebhookForm(context),
          },
          "Create a webhook for publicUrl",
        ),
    );
  }

  function showWebhook(webhook: Webhook): HTMLElement {
    const { sid, friendly_name, status, version, webhook_url, event_types } = webhook;
    const isEnabled = status === "enabled";
    const titleId = `name-${sid}`;
    const findings = shared.state?.findings.filter((finding) => finding.sid === sid) ?? [];
    return h(
      "article",
      { class: "panel", "aria-labelledby": titleId },
      h(
        "div",
        { class: "panel-head" },
        h("h3", { id: titleId }, received(friendly_name)),
        h("span", { class: `pill ${isEnabled ? "good" : "off"}` }, received(status)),
        h("span", { class: "pill info" }, received(version)),
        !settings.readOnly &&
          h(
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
            actionButton(isEnabled ? "Disable" : "Enable", () => toggle(webhook), {
              focus: `toggle ${sid}`,
            }),
            h(
              "button",
              {
                type: "button",
                class: "danger",
                "aria-describedby": titleId,
                click: () => confirmDelete(webhook),
              },
              "Delete",
            ),
          ),
      ),
      h(
        "dl",
        { class: "facts wide" },
        fact("URL", received(webhook_url, "mono")),
        fact(
          "Events",
          h(
            "span",
            { class: "pills" },
            (event_types ?? []).map((type) => [
              h("span", { class: "pill info" }, type === "*" ? "* all events" : received(type)),
              " ",
            ]),
          ),
        ),
        webhook.webhook_method !== "POST" && fact("Method", received(webhook.webhook_method)),
        fact("SID", h("span", { class: "mono" }, sid)),
        fact("Updated", formatDate(webhook.date_updated)),
      ),
      findings.map((finding) =>
        showFinding(finding, webhook, context, () => confirmDelete(webhook)),
      ),
    );
  }

  async function toggle({ sid, status }: Webhook): Promise<string> {
    const next = status === "enabled" ? "disabled" : "enabled";
    await send("PATCH", `webhooks/${sid}`, { status: next });
    await shared.reload();
    return `The webhook is ${next}.`;
  }

  function confirmDelete({ sid, friendly_name, webhook_url }: Webhook): void {
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
        await shared.reload();
        return "The webhook was deleted.";
      },
    });
  }

  shared.onChange(render);
  render();
  return { id: "webhooks", title: "Webhooks", element, show: () => void shared.reload() };
}

function fact(name: string, value: Child): Child {
  return [h("dt", {}, name), h("dd", {}, value)];
}
