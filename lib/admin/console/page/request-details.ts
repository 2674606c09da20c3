import type { RequestRow } from "../console-view";
import { actionButton } from "./action-button";
import { send } from "./api";
import type { Context } from "./context";
import { h, received, type Child } from "./dom";
import { listFacts, type Fact } from "./facts";
import { compareUrls } from "./url-difference";

/** The details of a request: the cause of a failure first, then what is known of the request. */
export function createDetails(row: RequestRow, context: Context): HTMLElement {
  return h("div", { class: "box" }, describeResult(row, context), listRowFacts(row, context));
}

function describeResult(row: RequestRow, context: Context): Child {
  if (row.explanation !== undefined) return describeExplanation(row, row.explanation, context);
  if (row.result === "conflict") {
    return [
      h("p", { class: "cause" }, "Another request with this uuid had other content."),
      h("p", {}, "This one was dropped and no handler ran. Look for a sender that reuses uuids."),
    ];
  }
  if (row.result === "duplicate") {
    return [
      h("p", { class: "cause" }, "This uuid was accepted before."),
      h(
        "p",
        {},
        "The handlers did not run again. The service sends again after an error or a time-out.",
      ),
    ];
  }
  if (row.message === undefined) return undefined;
  return [
    h("p", { class: "cause" }, received(row.message)),
    row.canExplain &&
      actionButton("Find the cause", async () => {
        await send("GET", `console/requests/${row.id}/explanation`);
        return "The cause was found.";
      }),
  ];
}

function describeExplanation(
  row: RequestRow,
  { cause, isProven, fix, subject, code, others }: NonNullable<RequestRow["explanation"]>,
  context: Context,
): Child {
  const { receiver } = context.settings;
  const publicUrl = receiver?.publicUrls[0] ?? "";
  const isUrl = code.startsWith("URL_") && subject !== undefined;
  return [
    h(
      "p",
      { class: "cause" },
      cause,
      " ",
      h("span", { class: "pill info" }, isProven ? "proven" : "likely"),
    ),
    isUrl &&
      isProven &&
      subject !== publicUrl &&
      compareUrls(["signed", subject], ["publicUrl", publicUrl]),
    !isUrl && subject !== undefined && h("p", {}, "About ", h("code", {}, received(subject)), "."),
    h("p", {}, h("span", { class: "muted" }, "Fix: "), fix),
    isUrl && isProven && offerUrlFix(subject, context),
    others.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, "Less likely causes"),
        h(
          "ul",
          {},
          others.map((other) => h("li", {}, other)),
        ),
      ),
  ];
}

/** A button that sets the webhook with the signed URL to the publicUrl. */
function offerUrlFix(signedUrl: string, { settings, webhooks }: Context): Child {
  const { receiver, readOnly } = settings;
  const webhook = webhooks.state?.webhooks.find(({ webhook_url }) => webhook_url === signedUrl);
  const [publicUrl] = receiver?.publicUrls ?? [];
  if (webhook === undefined || publicUrl === undefined) return undefined;
  const name = received(webhook.friendly_name);
  const found = h("p", {}, "The webhook with this URL is ", h("b", {}, name), ".");
  if (readOnly || receiver?.isUrlComplete !== true || publicUrl === signedUrl) return found;
  return [
    found,
    actionButton(
      "Set webhook_url to publicUrl",
      async () => {
        await send("PATCH", `webhooks/${webhook.sid}`, { webhook_url: publicUrl });
        await webhooks.reload();
        return "webhook_url was set to publicUrl.";
      },
      { className: "primary" },
    ),
  ];
}

function listRowFacts(row: RequestRow, { settings }: Context): Child {
  const { receiver } = settings;
  const urls = receiver?.publicUrls ?? [];
  return listFacts([
    ["Request", row.target],
    ["uuid", row.uuid],
    ["Account", row.accountSid],
    ["Factor", row.factorSid],
    ["Challenge", row.challengeSid],
    ["Signed URL", urls.length > 1 && row.urlIndex !== undefined ? urls[row.urlIndex] : undefined],
    ...row.issues.map((issue): Fact => ["Unreadable", issue]),
    ...row.revealed,
  ]);
}
