import type { Webhook } from "../../client/webhook";
import type { FindingView } from "../console-view";
import { Button } from "./action";
import { send } from "./api";
import { Notice } from "./blocks";
import { Received } from "./received";
import { readPublicUrl, settings } from "./settings";
import { UrlDifference } from "./url-difference";
import { changeWebhook, hideUserInfo, webhooks } from "./webhooks";

/** With these the receiver gets nothing, or rejects what it gets. */
const BROKEN: ReadonlySet<FindingView["code"]> = new Set([
  "NOT_CONFIGURED",
  "URL_DIFFERS",
  "DISABLED",
]);

/** What mends a finding; undefined where the API of the service cannot do it. */
type Mend = readonly [label: string, run: () => Promise<unknown>] | undefined;

/** A finding about a webhook, with a button that mends it. */
export function WebhookFinding(props: {
  finding: FindingView;
  webhook: Webhook;
  remove: () => void;
}) {
  const { finding, webhook, remove } = props;
  const isBad = BROKEN.has(finding.code);
  const [label = "", run] = findMend(finding, webhook) ?? [];
  async function mend(): Promise<string> {
    await run?.();
    await webhooks.reload();
    return `Done: ${label}.`;
  }
  const button =
    finding.code === "DUPLICATE" ? (
      <Button class="danger" run={remove}>
        Delete this webhook
      </Button>
    ) : (
      run && (
        <Button class={isBad ? "primary" : ""} run={mend}>
          {label}
        </Button>
      )
    );
  return (
    <Notice
      tone={isBad ? "bad" : "warn"}
      title={<Received text={finding.message} />}
      button={!settings.readOnly && button}
    >
      {finding.fix}
      {finding.code === "URL_DIFFERS" && (
        <UrlDifference
          urls={[
            ["webhook_url", hideUserInfo(webhook.webhook_url)],
            ["publicUrl", readPublicUrl()],
          ]}
        />
      )}
    </Notice>
  );
}

function findMend({ code, message }: FindingView, webhook: Webhook): Mend {
  const change = (body: object) => () => changeWebhook(webhook.sid, body);
  const types = webhook.event_types ?? [];
  // The message of a finding names the type that it is about.
  const type = settings.eventTypes.find((name) => message.includes(name)) ?? "";
  const others = types.filter((one) => one !== type);
  const isUrlComplete = settings.receiver?.isUrlComplete === true;
  const mends: Partial<Record<FindingView["code"], Mend | false>> = {
    URL_DIFFERS: isUrlComplete && [
      "Set webhook_url to publicUrl",
      change({ webhook_url: readPublicUrl() }),
    ],
    DISABLED: ["Enable the webhook", change({ status: "enabled" })],
    VERSION_LEGACY: ["Set version to v2", change({ version: "v2" })],
    // Of a receiver that accepts GET only, the page cannot mend the method.
    METHOD_DIFFERS: webhook.webhook_method !== "POST" && [
      "Replace it with a webhook that uses POST",
      () => replace(webhook),
    ],
    EVENT_NOT_SUBSCRIBED: [`Subscribe to ${type}`, change({ event_types: [...types, type] })],
    EVENT_NOT_HANDLED: types.length > others.length &&
      others.length > 0 && [`Unsubscribe from ${type}`, change({ event_types: others })],
  };
  const mend = mends[code];
  return mend === false ? undefined : mend;
}

/** The new one first: no event is lost. Events that both send are dropped as duplicates or run once. */
async function replace(webhook: Webhook): Promise<void> {
  const { friendly_name, event_types, webhook_url, status, version } = webhook;
  await send("POST", "webhooks", { friendly_name, event_types, webhook_url, status, version });
  await send("DELETE", `webhooks/${webhook.sid}`);
}
