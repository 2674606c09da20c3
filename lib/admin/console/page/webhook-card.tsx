import type { Webhook } from "../../client/webhook";
import type { FindingView } from "../console-view";
import { ActionButton } from "./action-button";
import { send } from "./api";
import { Dialog, openDialog } from "./dialog";
import { WebhookFinding } from "./webhook-finding";
import { formatDate } from "./format";
import { Received } from "./received";
import { settings } from "./settings";
import { WebhookForm } from "./webhook-form";
import { WebhookTraffic } from "./webhook-traffic";
import { changeWebhook, hideUserInfo, webhooks } from "./webhooks";

/** A webhook with its buttons, its fields and the findings about it. */
export function WebhookCard(props: { webhook: Webhook; findings: readonly FindingView[] }) {
  const { webhook, findings } = props;
  const { sid, status, version, webhook_method, event_types } = webhook;
  const titleId = `name-${sid}`;
  // A finding has the button that enables it.
  const isToggled = !findings.some(({ code }) => code === "DISABLED");
  return (
    <article class="panel" aria-labelledby={titleId}>
      <div class="panel-head">
        <h3 id={titleId}>
          <Received text={webhook.friendly_name} />
        </h3>
        <span class="pills">
          <span class={`pill ${status === "enabled" ? "good" : "off"}`}>
            <Received text={status} />
          </span>
          <span class="pill info">
            <Received text={version} />
          </span>
        </span>
        {!settings.readOnly && (
          <div class="buttons">
            <button
              type="button"
              aria-describedby={titleId}
              onClick={() => openDialog(<WebhookForm webhook={webhook} />)}
            >
              Edit
            </button>
            {isToggled && <ToggleButton webhook={webhook} />}
            <button
              type="button"
              class="danger"
              aria-describedby={titleId}
              onClick={() => openDialog(<DeleteWebhook webhook={webhook} />)}
            >
              Delete
            </button>
          </div>
        )}
      </div>
      <dl class="facts wide">
        <dt>URL</dt>
        <dd>
          <Received text={hideUserInfo(webhook.webhook_url)} mono />
        </dd>
        <dt>Events</dt>
        <dd class="pills">
          {event_types?.map((type) => (
            <span class="pill info" key={type}>
              {type === "*" ? "* all events" : <Received text={type} />}
            </span>
          ))}
        </dd>
        {webhook_method !== "POST" && [
          <dt>Method</dt>,
          <dd>
            <Received text={webhook_method} />
          </dd>,
        ]}
        <dt>SID</dt>
        <dd class="mono">{sid}</dd>
        <dt>Updated</dt>
        <dd>{formatDate(webhook.date_updated)}</dd>
        <WebhookTraffic url={webhook.webhook_url} />
      </dl>
      {findings.map((finding) => (
        <WebhookFinding
          key={finding.message}
          finding={finding}
          webhook={webhook}
          remove={() => openDialog(<DeleteWebhook webhook={webhook} />)}
        />
      ))}
    </article>
  );
}

function ToggleButton({ webhook: { sid, status } }: { webhook: Webhook }) {
  const next = status === "enabled" ? "disabled" : "enabled";
  const run = () => changeWebhook(sid, { status: next }).then(() => `The webhook is ${next}.`);
  return (
    <ActionButton
      label={next === "enabled" ? "Enable" : "Disable"}
      about={`name-${sid}`}
      run={run}
    />
  );
}

function DeleteWebhook({ webhook: { sid, friendly_name, webhook_url } }: { webhook: Webhook }) {
  async function submit(): Promise<string> {
    await send("DELETE", `webhooks/${sid}`);
    await webhooks.reload();
    return "The webhook was deleted.";
  }
  return (
    <Dialog title="Delete the webhook?" action="Delete webhook" isDangerous submit={submit}>
      <p>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        sends events to{" "}
        <code>
          <Received text={hideUserInfo(webhook_url)} />
        </code>
        .
      </p>
      <p>The service stops sending them at once. This cannot be undone.</p>
    </Dialog>
  );
}
