import type { ComponentChildren } from "preact";
import type { Webhook } from "../../client/webhook";
import type { FindingView } from "../console-view";
import { ActionButton } from "./action-button";
import { send } from "./api";
import { Received } from "./received";
import { readPublicUrl, settings } from "./settings";
import { UrlDifference } from "./url-difference";
import { changeWebhook, hideUserInfo, webhooks } from "./webhooks";

/** How a finding is shown: in the console's own words, with a button that mends it. */
interface Mend {
  title: ComponentChildren;
  text: ComponentChildren;
  /** Says what the button does; undefined where the API of the service cannot do it. */
  label?: string | undefined;
  run?: () => Promise<unknown>;
}

/** With these the receiver gets nothing, or rejects what it gets. */
const BROKEN: ReadonlySet<FindingView["code"]> = new Set([
  "NOT_CONFIGURED",
  "URL_DIFFERS",
  "DISABLED",
]);

const REPLACE_HINT =
  "The API cannot change the method: the button creates a webhook with the same settings, then deletes this one.";

/** A finding about a webhook. */
export function WebhookFinding(props: {
  finding: FindingView;
  webhook: Webhook;
  remove: () => void;
}) {
  const { code } = props.finding;
  const { title, text, label, run } = describeMend(props.finding, props.webhook);
  const isBad = BROKEN.has(code);
  return (
    <div class={`finding ${isBad ? "bad" : "warn"}`}>
      <div class="text">
        <p class="cause">{title}</p>
        {text}
      </div>
      {settings.readOnly ? null : code === "DUPLICATE" ? (
        <button type="button" class="danger" onClick={props.remove}>
          Delete this webhook
        </button>
      ) : (
        label !== undefined && (
          <ActionButton
            label={label}
            class={isBad ? "primary" : ""}
            run={async () => {
              await run?.();
              await webhooks.reload();
              return `Done: ${label}.`;
            }}
          />
        )
      )}
    </div>
  );
}

function describeMend({ code, message, fix }: FindingView, webhook: Webhook): Mend {
  const change = (body: object) => () => changeWebhook(webhook.sid, body);
  const types = webhook.event_types ?? [];
  // The message of a finding names the type that it is about.
  const type = settings.eventTypes.find((name) => message.includes(name)) ?? "";
  const others = types.filter((one) => one !== type);
  switch (code) {
    case "URL_DIFFERS":
      return {
        title: "Its URL differs from the publicUrl of the receiver.",
        text: (
          <>
            <p>The signatures of its requests do not match.</p>
            <UrlDifference
              urls={[
                ["webhook_url", hideUserInfo(webhook.webhook_url)],
                ["publicUrl", readPublicUrl()],
              ]}
            />
          </>
        ),
        label:
          settings.receiver?.isUrlComplete === true ? "Set webhook_url to publicUrl" : undefined,
        run: change({ webhook_url: readPublicUrl() }),
      };
    case "DISABLED":
      return {
        title: "It is disabled.",
        text: <p>The service sends nothing for it.</p>,
        label: "Enable the webhook",
        run: change({ status: "enabled" }),
      };
    case "DUPLICATE":
      return {
        title: "Another webhook has the same URL.",
        text: <p>The service sends the events that both subscribe to twice.</p>,
      };
    case "VERSION_LEGACY":
      return {
        title: "It sends the legacy version v1.",
        text: <p>Events lack the friendly name, the details and the metadata.</p>,
        label: "Set version to v2",
        run: change({ version: "v2" }),
      };
    case "METHOD_DIFFERS":
      return {
        title: "It does not use POST.",
        text: <p>The query of a GET request ends up in logs. {REPLACE_HINT}</p>,
        label: "Replace it with a webhook that uses POST",
        run: () => replace(webhook),
      };
    case "EVENT_NOT_SUBSCRIBED":
      return {
        title: [<code>{type}</code>, " has a handler and is not sent."],
        text: <p>The handler never runs.</p>,
        label: `Subscribe to ${type}`,
        run: change({ event_types: [...types, type] }),
      };
    case "EVENT_NOT_HANDLED":
      return {
        title: [<code>{type}</code>, " is sent and has no handler."],
        text: <p>{`Add push.on("${type}", …) to the app, or unsubscribe.`}</p>,
        label:
          types.length > others.length && others.length > 0
            ? `Unsubscribe from ${type}`
            : undefined,
        run: change({ event_types: others }),
      };
    // The page shows it above the list: it is about no webhook.
    case "NOT_CONFIGURED":
    default:
      return { title: <Received text={message} />, text: <p>{fix}</p> };
  }
}

/** The new one first: no event is lost. Events that both send are dropped as duplicates or run once. */
async function replace(webhook: Webhook): Promise<void> {
  const { friendly_name, event_types, webhook_url, status, version } = webhook;
  await send("POST", "webhooks", { friendly_name, event_types, webhook_url, status, version });
  await send("DELETE", `webhooks/${webhook.sid}`);
}
