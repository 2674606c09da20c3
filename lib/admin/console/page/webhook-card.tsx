import type { Webhook } from "../../client/webhook";
import type { FindingView } from "../console-view";
import { Button } from "./action";
import { send } from "./api";
import { Pill } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatDate } from "./format";
import { Facts, Received } from "./received";
import { linkTo, useTarget } from "./route";
import { settings } from "./settings";
import { WebhookFinding } from "./webhook-finding";
import { WebhookForm } from "./webhook-form";
import { WebhookTraffic } from "./webhook-traffic";
import { changeWebhook, hideUserInfo, webhooks } from "./webhooks";

/** A webhook with its buttons, its fields and the findings about it. */
export function WebhookCard(props: { webhook: Webhook; findings: readonly FindingView[] }) {
  const { webhook, findings } = props;
  const { sid, status, webhook_method, webhook_url } = webhook;
  const titleId = `name-${sid}`;
  const about = { "aria-describedby": titleId };
  const next = status === "enabled" ? "disabled" : "enabled";
  const remove = () => openDialog(<DeleteWebhook webhook={webhook} />);
  const toggle = () => changeWebhook(sid, { status: next }).then(() => `The webhook is ${next}.`);
  return (
    <article class="panel" aria-labelledby={titleId} {...useTarget(sid)}>
      <div class="panel-head">
        <h3 id={titleId}>
          <a href={linkTo("webhooks", sid)}>
            <Received text={webhook.friendly_name} />
          </a>
        </h3>
        <Pill tone={status === "enabled" ? "good" : "off"}>
          <Received text={status} />
        </Pill>
        <Pill tone="info">
          <Received text={webhook.version} />
        </Pill>
        {!settings.readOnly && (
          <div class="buttons">
            <Button {...about} run={() => openDialog(<WebhookForm webhook={webhook} />)}>
              Edit
            </Button>
            {/* A finding has the button that enables it. */}
            {!findings.some(({ code }) => code === "DISABLED") && (
              <Button {...about} run={toggle}>
                {next === "enabled" ? "Enable" : "Disable"}
              </Button>
            )}
            <Button {...about} class="danger" run={remove}>
              Delete
            </Button>
          </div>
        )}
      </div>
      <Facts
        class="wide"
        facts={[
          ["URL", <Received text={hideUserInfo(webhook_url)} class="mono" />],
          ["Events", <EventTypes types={webhook.event_types ?? []} />],
          ["Method", webhook_method !== "POST" && <Received text={webhook_method} />],
          ["SID", sid, true],
          ["Updated", formatDate(webhook.date_updated)],
          ["Requests", settings.receiver && <WebhookTraffic url={webhook_url} />],
        ]}
      />
      {findings.map((finding) => (
        <WebhookFinding key={finding.message} finding={finding} webhook={webhook} remove={remove} />
      ))}
    </article>
  );
}

function EventTypes({ types }: { types: readonly string[] }) {
  return (
    <span class="chips">
      {types.map((type) => (
        <Pill tone="info" key={type}>
          {type === "*" ? "* all events" : <Received text={type} />}
        </Pill>
      ))}
    </span>
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
        sends events to <Received text={hideUserInfo(webhook_url)} class="mono" />.
      </p>
      <p>The service stops sending them at once. This cannot be undone.</p>
    </Dialog>
  );
}
