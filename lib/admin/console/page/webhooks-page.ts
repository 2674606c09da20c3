import { actionButton } from "./action-button";
import { describeProblem } from "./api";
import { createBadge } from "./badge";
import type { Context, ConsolePage } from "./context";
import { h, received, replaceContent, type Child } from "./dom";
import { showWebhook } from "./webhook-card";
import { openWebhookForm } from "./webhook-form";

/** Creates the page of the webhooks, with what differs between them and the receiver. */
export function createWebhooksPage(context: Context): ConsolePage {
  const { settings, webhooks: shared } = context;
  const list = h("div", { class: "stack", "aria-live": "off" });
  const badge = createBadge();
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
    badge.show(state?.findings.length ?? 0, "finding", "findings");
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
          `The comparison with the receiver failed. ${describeProblem(findingsError)}`,
        ),
      missing.length > 0 && notConfigured(),
      webhooks.map((webhook) => showWebhook(webhook, context)),
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
      h("p", {}, describeProblem(error)),
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

  shared.onChange(render);
  render();
  return {
    id: "webhooks",
    title: "Webhooks",
    element,
    badge: badge.element,
    show: () => void shared.reload(),
    update() {
      if (settings.receiver !== undefined) void shared.reload();
    },
  };
}
