import type { Webhook } from "../../client/webhook";
import type { FindingView } from "../console-view";
import { actionButton } from "./action-button";
import { send } from "./api";
import type { Context } from "./context";
import { h, received, type Child } from "./dom";
import { compareUrls } from "./url-difference";

/** How a finding is shown: in the console's own words, with a button that mends it. */
interface Mend {
  title: Child;
  text: Child;
  /** Says what the button does; undefined where the API of the service cannot do it. */
  action?: { label: string; run: () => Promise<unknown>; isDangerous?: boolean } | undefined;
}

/** Shows a finding about a webhook. */
export function showFinding(
  finding: FindingView,
  webhook: Webhook,
  context: Context,
  removeWebhook: () => void,
): HTMLElement {
  const { title, text, action } = describeMend(finding, webhook, context);
  const { readOnly } = context.settings;
  const isBad = BROKEN.has(finding.code);
  return h(
    "div",
    { class: `finding ${isBad ? "bad" : "warn"}` },
    h("div", { class: "finding-text" }, h("p", { class: "cause" }, title), text),
    readOnly
      ? undefined
      : finding.code === "DUPLICATE"
        ? h(
            "button",
            { type: "button", class: "danger", click: removeWebhook },
            "Delete this webhook",
          )
        : action !== undefined &&
          actionButton(
            action.label,
            async () => {
              await action.run();
              await context.webhooks.reload();
              return `Done: ${action.label}.`;
            },
            { className: isBad ? "primary" : "", focus: `${finding.sid} ${action.label}` },
          ),
  );
}

/** With these the receiver gets nothing, or rejects what it gets. */
const BROKEN: ReadonlySet<FindingView["code"]> = new Set([
  "NOT_CONFIGURED",
  "URL_DIFFERS",
  "DISABLED",
]);

function describeMend(
  { code, message, fix }: FindingView,
  webhook: Webhook,
  context: Context,
): Mend {
  const change = (body: object) => () => send("PATCH", `webhooks/${webhook.sid}`, body);
  const [publicUrl = ""] = context.settings.receiver?.publicUrls ?? [];
  // The message of a finding names the type that it is about.
  const findType = (text: string) =>
    context.settings.eventTypes.find((type) => text.includes(type)) ?? "";
  switch (code) {
    case "URL_DIFFERS":
      return {
        title: "Its URL differs from the publicUrl of the receiver.",
        text: [
          h("p", {}, "The signatures of its requests do not match."),
          compareUrls(["webhook_url", webhook.webhook_url ?? ""], ["publicUrl", publicUrl]),
        ],
        action:
          context.settings.receiver?.isUrlComplete === true
            ? { label: "Set webhook_url to publicUrl", run: change({ webhook_url: publicUrl }) }
            : undefined,
      };
    case "DISABLED":
      return {
        title: "It is disabled.",
        text: h("p", {}, "The service sends nothing for it."),
        action: { label: "Enable the webhook", run: change({ status: "enabled" }) },
      };
    case "DUPLICATE":
      return {
        title: "Another webhook has the same URL.",
        text: h("p", {}, "The service sends the events that both subscribe to twice."),
      };
    case "VERSION_LEGACY":
      return {
        title: "It sends the legacy version v1.",
        text: h("p", {}, "Events lack the friendly name, the details and the metadata."),
        action: { label: "Set version to v2", run: change({ version: "v2" }) },
      };
    case "METHOD_DIFFERS":
      return {
        title: "It does not use POST.",
        text: h("p", {}, "The query of a GET request ends up in logs. ", REPLACE_HINT),
        action: { label: "Replace it with a webhook that uses POST", run: () => replace(webhook) },
      };
    case "EVENT_NOT_SUBSCRIBED":
    case "EVENT_NOT_HANDLED":
      return describeEvent(code, findType(message), webhook, change);
    // The page shows it above the list: it is about no webhook.
    case "NOT_CONFIGURED":
    default:
      return { title: received(message), text: h("p", {}, fix) };
  }
}

const REPLACE_HINT =
  "The API cannot change the method: the button creates a webhook with the same settings, then deletes this one.";

/** The new one first: no event is lost. Events that both send are dropped as duplicates or run once. */
async function replace(webhook: Webhook): Promise<void> {
  const { friendly_name, event_types, webhook_url, status, version } = webhook;
  await send("POST", "webhooks", { friendly_name, event_types, webhook_url, status, version });
  await send("DELETE", `webhooks/${webhook.sid}`);
}

function describeEvent(
  code: "EVENT_NOT_SUBSCRIBED" | "EVENT_NOT_HANDLED",
  type: string,
  { event_types }: Webhook,
  change: (body: object) => () => Promise<unknown>,
): Mend {
  const current = event_types ?? [];
  const name = h("code", {}, type);
  if (code === "EVENT_NOT_SUBSCRIBED") {
    return {
      title: [name, " has a handler and is not sent."],
      text: h("p", {}, "The handler never runs."),
      action: { label: `Subscribe to ${type}`, run: change({ event_types: [...current, type] }) },
    };
  }
  const others = current.filter((one) => one !== type);
  return {
    title: [name, " is sent and has no handler."],
    text: h("p", {}, `Add push.on("${type}", …) to the app, or unsubscribe.`),
    action:
      current.includes(type) && others.length > 0
        ? { label: `Unsubscribe from ${type}`, run: change({ event_types: others }) }
        : undefined,
  };
}
