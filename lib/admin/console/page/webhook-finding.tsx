import type { Finding, Webhook } from "../../client/webhook";
import { Button } from "./action";
import { change, readPublicUrl, send, settings } from "./api";
import { Notice } from "./blocks";
import { Received, UrlDifference } from "./received";
import { changeWebhook, webhooks } from "./webhooks";

/** With these the receiver gets no request, or rejects each. */
const BROKEN: ReadonlySet<Finding["code"]> = new Set(["NOT_CONFIGURED", "URL_DIFFERS", "DISABLED"]);

/** The button that mends a finding: its label and its action. */
type Mend = readonly [label: string, run: () => unknown];

/** A finding about a webhook, with a button that mends it. */
export function WebhookFinding(props: { finding: Finding; webhook: Webhook; remove: () => void }) {
  const { finding, webhook, remove } = props;
  const { code, message, fix } = finding;
  const isBad = BROKEN.has(code);
  const kind = code === "DUPLICATE" ? "danger" : isBad ? "primary" : "";
  return (
    <Notice
      tone={isBad ? "bad" : "warn"}
      title={<Received text={message} />}
      button={<MendButton kind={kind} mend={findMend(finding, webhook, remove)} />}
    >
      {fix}
      {code === "URL_DIFFERS" && (
        <UrlDifference label="webhook_url" url={webhook.webhook_url ?? ""} />
      )}
    </Notice>
  );
}

/** A button that mends something; nothing where the page cannot do it. */
export function MendButton({ kind, mend }: { kind: string; mend: Mend | undefined }) {
  if (settings.readOnly || mend === undefined) return null;
  const [label, run] = mend;
  return (
    <Button class={kind} run={run}>
      {label}
    </Button>
  );
}

const patch = ({ sid }: Webhook, label: string, body: object): Mend => [
  label,
  () => changeWebhook(sid, body, `Done: ${label}.`),
];

/** Finds the change that gives a webhook the URL of the receiver. */
export function mendUrl(webhook: Webhook): Mend | undefined {
  return settings.receiver?.isUrlComplete === true
    ? patch(webhook, "Set webhook_url to publicUrl", { webhook_url: readPublicUrl() })
    : undefined;
}

/** Finds the change that mends a finding; undefined where the API of the service cannot make it. */
function findMend(
  { code, message }: Finding,
  webhook: Webhook,
  remove: () => void,
): Mend | undefined {
  const types = webhook.event_types ?? [];
  // The message of a finding names the type that it is about.
  const type = settings.eventTypes.find((name) => message.includes(name)) ?? "";
  const others = types.filter((one) => one !== type);
  switch (code) {
    case "URL_DIFFERS":
      return mendUrl(webhook);
    case "DISABLED":
      return patch(webhook, "Enable the webhook", { status: "enabled" });
    case "DUPLICATE":
      return ["Delete this webhook", remove];
    case "VERSION_LEGACY":
      return patch(webhook, "Set version to v2", { version: "v2" });
    case "METHOD_DIFFERS":
      // Of a receiver that accepts GET only, the page cannot mend the method.
      return webhook.webhook_method === "POST"
        ? undefined
        : ["Replace it with a webhook that uses POST", () => replace(webhook)];
    case "EVENT_NOT_SUBSCRIBED":
      return patch(webhook, `Subscribe to ${type}`, { event_types: [...types, type] });
    case "EVENT_NOT_HANDLED":
      return types.length > others.length && others.length > 0
        ? patch(webhook, `Unsubscribe from ${type}`, { event_types: others })
        : undefined;
    case "NOT_CONFIGURED":
    case "URL_EXTENDS":
      return undefined;
  }
  return undefined;
}

/** The new one first: no event is lost. Events that both send are dropped as duplicates or run once. */
async function replace(webhook: Webhook): Promise<string> {
  const { friendly_name, event_types, webhook_url, status, version } = webhook;
  await send("POST", "webhooks", { friendly_name, event_types, webhook_url, status, version });
  return change(webhooks, "The webhook was replaced.", "DELETE", `webhooks/${webhook.sid}`);
}
