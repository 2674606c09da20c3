import type { Finding, Webhook } from "../../client/webhook";
import { WriteButton } from "./action";
import { change, settings } from "./api";
import { LoadedPage, Notice, Pill } from "./blocks";
import { Changes } from "./changes";
import { Dialog, openDialog } from "./dialog";
import { formatDate } from "./format";
import { Fact, Received, UrlDifference } from "./received";
import { linkTo, useTarget } from "./route";
import { openWebhookForm, saveEdits } from "./webhook-form";
import { readNearestUrl, webhooks } from "./webhooks";

/** The page of the webhooks, with the differences between them and the receiver. */
export function WebhooksPage() {
  const create = (
    <WriteButton label="Create webhook" class="primary" run={() => openWebhookForm()} />
  );
  return (
    <LoadedPage title="Webhooks" loader={webhooks} create={create}>
      {({ webhooks: list, findings }) => (
        <>
          {listNotices(findings)}
          {settings.receiver && findings.length === 0 && (
            <Notice tone="good" title="The webhooks match the receiver." />
          )}
          <Changes of={["webhook"]} />
          {list.map((webhook) => (
            <WebhookPanel key={webhook.sid} webhook={webhook} findings={findings} />
          ))}
          {list.length === 0 && (
            <p class="panel state">
              The service has no webhook yet. Without one it sends no events.
            </p>
          )}
        </>
      )}
    </LoadedPage>
  );
}

function WebhookPanel(props: { webhook: Webhook; findings: readonly Finding[] }) {
  const { webhook, findings } = props;
  const { sid, status, webhook_method, webhook_url } = webhook;
  const titleId = `name-${sid}`;
  const about = { "aria-describedby": titleId };
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
        <div class="buttons">
          <WriteButton label="Edit" {...about} run={() => openWebhookForm(webhook)} />
          <WriteButton label="Delete" class="danger" {...about} run={() => askToDelete(webhook)} />
        </div>
      </div>
      <dl class="facts wide">
        <Fact name="URL">
          <Received text={webhook_url} class="mono" />
        </Fact>
        <Fact name="Events">
          {webhook.event_types?.map((type) => [
            <Pill tone="info">{type === "*" ? "* all events" : <Received text={type} />}</Pill>,
            " ",
          ])}
        </Fact>
        <Fact name="Method">{webhook_method !== "POST" && webhook_method}</Fact>
        <Fact name="SID">{sid}</Fact>
        <Fact name="Updated">{formatDate(webhook.date_updated)}</Fact>
      </dl>
      {listNotices(findings, webhook)}
    </article>
  );
}

function askToDelete({ sid, friendly_name, webhook_url }: Webhook): void {
  const remove = () => change(webhooks, "The webhook was deleted.", "DELETE", `webhooks/${sid}`);
  openDialog(
    <Dialog action="Delete webhook" isDangerous submit={remove}>
      <p>
        <Received text={friendly_name} /> sends events to{" "}
        <Received text={webhook_url} class="mono" />.
      </p>
      <p>The service stops sending them at once. This cannot be undone.</p>
    </Dialog>,
  );
}

/** Findings with which the receiver gets no request, or rejects each. */
const BROKEN: ReadonlySet<Finding["code"]> = new Set(["NOT_CONFIGURED", "URL_DIFFERS", "DISABLED"]);

/** Lists the findings about a webhook; without one, that none has the URL of the receiver. */
function listNotices(findings: readonly Finding[], webhook?: Webhook) {
  const own = findings.filter(({ sid }) => sid === webhook?.sid);
  return own.map((finding) => {
    const { code, message, fix } = finding;
    return (
      <Notice
        key={message}
        tone={BROKEN.has(code) ? "bad" : "warn"}
        title={<Received text={message} />}
        button={webhook && <MendButton webhook={webhook} finding={finding} />}
      >
        {fix}
        {code === "URL_DIFFERS" && (
          <UrlDifference
            label="webhook_url"
            url={webhook?.webhook_url ?? ""}
            to={readNearestUrl(finding)}
          />
        )}
      </Notice>
    );
  });
}

const CHANGE_LABELS: Partial<Record<Finding["code"], string>> = {
  URL_DIFFERS: "Set webhook_url to publicUrl",
  DISABLED: "Enable the webhook",
  DUPLICATE: "Unsubscribe from the events sent twice",
  VERSION_LEGACY: "Set version to v2",
  EVENT_NOT_SUBSCRIBED: "Subscribe to",
  EVENT_NOT_HANDLED: "Unsubscribe from",
};

/** The button that mends a finding; none where a person has to decide. */
export function MendButton({ finding, webhook }: { finding: Finding; webhook: Webhook }) {
  const { code, mend, eventType = "" } = finding;
  if (mend?.action === "update") {
    const look = BROKEN.has(code) ? "primary" : "";
    const label = `${CHANGE_LABELS[code]} ${eventType}`.trim();
    const update = () => saveEdits(mend.change, webhook, `Done: ${label}.`);
    return <WriteButton label={label} run={update} class={look} />;
  }
  if (mend?.action !== "delete") return null;
  const run = () => askToDelete(webhook);
  return <WriteButton label="Delete this webhook" class="danger" run={run} />;
}
