import type { PushWebhooks } from "../../index";
import { checkWebhooks, isEnabled, sends } from "../client/configuration-drift";
import type { Webhooks } from "../client/resources";
import type { Finding, Webhook } from "../client/webhook";
import type { RehearsalLink, RehearsalRows } from "./report";

/** The event that completes the login of a rehearsal. */
const APPROVAL = "challenge.approved";

const LINKS: Partial<Record<Finding["code"], RehearsalLink>> = {
  NOT_CONFIGURED: "webhook",
  DISABLED: "enabled",
  EVENT_NOT_SUBSCRIBED: "types",
  VERSION_LEGACY: "version",
  METHOD_DIFFERS: "drift",
  URL_EXTENDS: "drift",
  DUPLICATE: "drift",
};

/**
 * Compares the Webhooks of a receiver with it, and adds the rows of the links from `webhook` to
 * `drift`. Types that the app does not handle disturb no login. Returns whether a Webhook sends the
 * approvals of logins to the receiver.
 */
export async function checkWebhook(
  push: PushWebhooks,
  webhooks: Webhooks,
  rows: RehearsalRows,
): Promise<boolean> {
  const { publicUrl, publicUrls, methods } = push;
  const all = await rows.attempt("webhook", async () => {
    const listed: Webhook[] = [];
    for await (const webhook of webhooks.list()) listed.push(webhook);
    return listed;
  });
  if (all === undefined) return false;
  const own = all.filter(({ webhook_url }) => publicUrls.includes(webhook_url ?? ""));
  for (const { code, message, fix } of await checkWebhooks(all, {
    publicUrl,
    publicUrls,
    methods,
    // A login that only waits has no handler.
    handledTypes: () => [...push.handledTypes(), APPROVAL],
  })) {
    const link = code === "URL_DIFFERS" ? (own.length === 0 ? "webhook" : "drift") : LINKS[code];
    if (link !== undefined) rows.fail(link, { reason: message, fix });
  }
  if (own.length === 0) return false;
  for (const link of ["webhook", "enabled", "types", "version", "drift"] as const) rows.ok(link);
  return own.some(
    (one) =>
      isEnabled(one) &&
      sends(one, APPROVAL) &&
      (methods as readonly (string | null)[]).includes(one.webhook_method),
  );
}
