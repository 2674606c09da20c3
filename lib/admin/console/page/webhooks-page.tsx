import type { Finding, Webhook } from "../../client/webhook";
import { WriteButton } from "./action";
import { change, describeProblem, ProblemError, read, readPublicUrl, settings } from "./api";
import { LoadedPage, Notice, Pill, toOptions } from "./blocks";
import { Changes, listChanges } from "./changes";
import { Choices, Dialog, openDialog, TextField } from "./dialog";
import { formatDate } from "./format";
import { Facts, Received, UrlDifference } from "./received";
import { linkTo, useTarget } from "./route";
import { changeWebhook, findings, update, UrlButton, webhooks } from "./webhooks";

/** The page of the webhooks, with the differences between them and the receiver. */
export function WebhooksPage() {
  const all = findings.error === undefined ? (findings.value ?? []) : [];
  // The others may follow from a URL that differs: mended before it, events would arrive twice.
  const causes = all.filter(({ code }) => code === "URL_DIFFERS");
  const found = causes.length > 0 ? causes : all;
  const missing = found.find(({ sid }) => sid === undefined);
  return (
    <LoadedPage
      title="Webhooks"
      loader={webhooks}
      create={<CreateButton label="Create webhook" isPrimary={missing === undefined} />}
    >
      {(list) => (
        <>
          {findings.error !== undefined && (
            <Notice tone="bad" title="The comparison with the receiver failed.">
              {describeProblem(findings.error)}
            </Notice>
          )}
          {missing && (
            <Notice
              tone="bad"
              title={<Received text={missing.message} />}
              button={<CreateButton label="Create a webhook for publicUrl" isPrimary />}
            >
              {missing.fix}
            </Notice>
          )}
          {settings.receiver && findings.error === undefined && findings.value?.length === 0 && (
            <Notice tone="good" title="The webhooks match the receiver." />
          )}
          <Changes of={["webhook"]} />
          {list.map((webhook) => (
            <WebhookCard
              key={webhook.sid}
              webhook={webhook}
              findings={found.filter(({ sid }) => sid === webhook.sid)}
            />
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

function CreateButton({ label, isPrimary }: { label: string; isPrimary: boolean }) {
  const look = isPrimary ? "primary" : "";
  return <WriteButton label={label} class={look} run={() => openWebhookForm()} />;
}

function WebhookCard(props: { webhook: Webhook; findings: readonly Finding[] }) {
  const { webhook, findings: own } = props;
  const { sid, status, webhook_method, webhook_url } = webhook;
  const titleId = `name-${sid}`;
  const about = { "aria-describedby": titleId };
  const next = status === "enabled" ? "disabled" : "enabled";
  const last = listChanges("webhook").find((one) => one.sid === sid && one.status < 400);
  const toggle = () => changeWebhook(sid, { status: next }, `The webhook is ${next}.`);
  const askToDisable = () =>
    openDialog(
      <Dialog action="Disable webhook" isDangerous submit={toggle}>
        <p>
          <Received text={webhook.friendly_name} />, <Received text={webhook_url} class="mono" />
        </p>
        <p>The service sends no more of its events, and does not send them later.</p>
      </Dialog>,
    );
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
          {/* A finding has the button that enables it. */}
          {own.every(({ code }) => code !== "DISABLED") && (
            <WriteButton
              label={next === "enabled" ? "Enable" : "Disable"}
              class={next === "disabled" ? "danger" : ""}
              {...about}
              run={next === "enabled" ? toggle : askToDisable}
            />
          )}
          <WriteButton label="Delete" class="danger" {...about} run={() => askToDelete(webhook)} />
        </div>
      </div>
      <Facts
        class="wide"
        of={{
          URL: <Received text={webhook_url} class="mono" />,
          Events: webhook.event_types?.map((type) => [
            <Pill tone="info">{type === "*" ? "* all events" : <Received text={type} />}</Pill>,
            " ",
          ]),
          Method: webhook_method !== "POST" && webhook_method,
          SID: sid,
          Updated: formatDate(webhook.date_updated),
          "Changed here": last && `by ${last.by}, ${formatDate(last.atMs)}`,
        }}
      />
      {own.map((finding) => (
        <WebhookFinding key={finding.message} finding={finding} webhook={webhook} />
      ))}
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

/** The order of event types means nothing. */
const show = (value: unknown) => (Array.isArray(value) ? value.toSorted().join() : value);

/** Lists the fields of a form that are not as in a webhook. */
function listEdits(body: object, webhook: Webhook) {
  return Object.entries(body)
    .filter(([name, value]) => show(value) !== show(webhook[name as keyof Webhook]))
    .map(([name]) => name);
}

function openWebhookForm(webhook?: Webhook): void {
  const { receiver, eventTypes } = settings;
  const suggestedUrl = receiver?.isUrlComplete === true ? readPublicUrl() : "";
  const isNew = webhook === undefined;
  async function submit(data: FormData): Promise<string> {
    const types = data.getAll("event_types");
    if (types.length === 0) throw new ProblemError(0, "", "Tick at least one event type.");
    const event_types = types.includes("*") ? ["*"] : types;
    const body: Record<string, unknown> = { ...Object.fromEntries(data), event_types };
    if (isNew) return change(webhooks, "The webhook was created.", "POST", "webhooks", body);
    const path = `webhooks/${webhook.sid}`;
    // Also because the server hides the user info of a webhook_url.
    const changed = listEdits(body, webhook);
    if (listEdits(body, await read<Webhook>(path)).join() !== changed.join()) {
      await webhooks.reload();
      throw new ProblemError(0, "", "The webhook has changed meanwhile. Open the form again.");
    }
    if (changed.length === 0) return "Nothing was changed.";
    const sent = Object.fromEntries(changed.map((name) => [name, body[name]]));
    return change(webhooks, "The changes were saved.", "PATCH", path, sent);
  }
  openDialog(
    <Dialog
      title={isNew ? "Create a webhook" : "Edit the webhook"}
      action={isNew ? "Create webhook" : "Save changes"}
      submit={submit}
    >
      <TextField
        label="Name"
        name="friendly_name"
        required
        defaultValue={webhook?.friendly_name ?? ""}
        hint="A description, without personal data."
      />
      <TextField
        label="URL"
        name="webhook_url"
        type="url"
        required
        maxLength={2_048}
        defaultValue={webhook?.webhook_url ?? suggestedUrl}
        hint="The service signs it byte for byte: it must equal the publicUrl of the receiver that it reaches."
      />
      <Choices
        legend="Event types"
        name="event_types"
        type="checkbox"
        options={{ "*": "* all events, also types of the future", ...toOptions(eventTypes) }}
        chosen={webhook?.event_types ?? receiver?.handledTypes ?? []}
      />
      <Choices
        legend="Version"
        name="version"
        options={{
          v2: "v2, all parameters",
          v1: "v1, legacy: without names, details and metadata",
        }}
        chosen={[webhook?.version ?? "v2"]}
      />
    </Dialog>,
  );
}

/** Findings with which the receiver gets no request, or rejects each. */
const BROKEN: ReadonlySet<Finding["code"]> = new Set(["NOT_CONFIGURED", "URL_DIFFERS", "DISABLED"]);

interface FindingProps {
  finding: Finding;
  webhook: Webhook;
}

function WebhookFinding(props: FindingProps) {
  const { code, message, fix } = props.finding;
  return (
    <Notice
      tone={BROKEN.has(code) ? "bad" : "warn"}
      title={<Received text={message} />}
      button={<MendButton {...props} />}
    >
      {fix}
      {code === "URL_DIFFERS" && (
        <UrlDifference label="webhook_url" url={props.webhook.webhook_url ?? ""} />
      )}
    </Notice>
  );
}

const UPDATE_LABELS: Partial<Record<Finding["code"], string>> = {
  DISABLED: "Enable the webhook",
  DUPLICATE: "Unsubscribe from the events sent twice",
  VERSION_LEGACY: "Set version to v2",
  EVENT_NOT_SUBSCRIBED: "Subscribe to",
  EVENT_NOT_HANDLED: "Unsubscribe from",
};

function MendButton({ finding, webhook }: FindingProps) {
  const { code, mend, eventType = "" } = finding;
  if (mend === undefined) return null;
  if (mend.action === "update") {
    if (code === "URL_DIFFERS") return <UrlButton webhook={webhook} />;
    const look = code === "DISABLED" ? "primary" : "";
    const label = `${UPDATE_LABELS[code]} ${eventType}`.trim();
    return <WriteButton class={look} {...update(webhook, label, mend.change)} />;
  }
  if (mend.action !== "delete") return null;
  const run = () => askToDelete(webhook);
  return <WriteButton label="Delete this webhook" class="danger" run={run} />;
}
