import type { Finding, Webhook } from "../../client/webhook";
import { type Action, Writes } from "./action";
import { change, describeProblem, readPublicUrl, send, settings } from "./api";
import { EmptyState, LoadedPage, Notice, Pill } from "./blocks";
import { Choices, Dialog, openDialog, TextField } from "./dialog";
import { formatAge, formatDate, plural } from "./format";
import { live } from "./live";
import { Facts, Received, UrlDifference } from "./received";
import { readSignedUrl } from "./request-filter";
import { linkTo, useTarget } from "./route";
import { useStore } from "./store";
import { changeWebhook, findings, mendUrl, patch, webhooks } from "./webhooks";

/** The page of the webhooks, with the differences between them and the receiver. */
export function WebhooksPage() {
  const { value = [], error } = useStore(findings);
  const found = error === undefined ? value : [];
  const general = found.filter(({ sid }) => sid === undefined);
  return (
    <LoadedPage
      title="Webhooks"
      loader={webhooks}
      failed="The webhooks could not be read."
      create={["Create webhook", () => openWebhookForm(), general.length === 0 ? "primary" : ""]}
    >
      {(all) => (
        <>
          {error !== undefined && (
            <Notice tone="bad" title="The comparison with the receiver failed.">
              {describeProblem(error)}
            </Notice>
          )}
          {general.map(({ message, fix }) => (
            <Notice
              key={message}
              tone="bad"
              title={<Received text={message} />}
              button={
                <Writes
                  actions={[["Create a webhook for publicUrl", () => openWebhookForm(), "primary"]]}
                />
              }
            >
              {fix}
            </Notice>
          ))}
          {all.map((webhook) => (
            <WebhookCard
              key={webhook.sid}
              webhook={webhook}
              findings={found.filter(({ sid }) => sid === webhook.sid)}
            />
          ))}
          {all.length === 0 && (
            <EmptyState title="The service has no webhook yet.">
              <p>Without one it sends no events.</p>
            </EmptyState>
          )}
        </>
      )}
    </LoadedPage>
  );
}

/** A webhook with its buttons, its fields and the findings about it. */
function WebhookCard(props: { webhook: Webhook; findings: readonly Finding[] }) {
  const { webhook, findings: own } = props;
  const { sid, status, webhook_method, webhook_url } = webhook;
  const titleId = `name-${sid}`;
  const next = status === "enabled" ? "disabled" : "enabled";
  const remove = () => askToDelete(webhook);
  const toggle = () => changeWebhook(sid, { status: next }, `The webhook is ${next}.`);
  const askToDisable = () =>
    openDialog(
      <Dialog title="Disable the webhook?" action="Disable webhook" isDangerous submit={toggle}>
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
          <Writes
            about={titleId}
            actions={[
              ["Edit", () => openWebhookForm(webhook)],
              // A finding has the button that enables it.
              own.some(({ code }) => code === "DISABLED")
                ? undefined
                : next === "enabled"
                  ? ["Enable", toggle]
                  : ["Disable", askToDisable, "danger"],
              ["Delete", remove, "danger"],
            ]}
          />
        </div>
      </div>
      <Facts
        class="wide"
        facts={[
          ["URL", <Received text={webhook_url} class="mono" />],
          ["Events", webhook.event_types?.map((type) => [<EventType type={type} />, " "])],
          ["Method", webhook_method !== "POST" && <Received text={webhook_method} />],
          ["SID", sid, true],
          ["Updated", formatDate(webhook.date_updated)],
          ["Requests", settings.receiver && <Traffic url={webhook_url} />],
        ]}
      />
      {own.map((finding) => (
        <WebhookFinding key={finding.message} finding={finding} webhook={webhook} remove={remove} />
      ))}
    </article>
  );
}

function EventType({ type }: { type: string }) {
  return <Pill tone="info">{type === "*" ? "* all events" : <Received text={type} />}</Pill>;
}

/** When the last request of a webhook arrived, and how many failed, among the rows of the list. */
function Traffic({ url }: { url: string | null }) {
  const { rows } = useStore(live);
  const own = rows.filter((row) => url !== null && readSignedUrl(row) === url);
  const [last] = own;
  const bad = own.filter(({ status }) => status >= 400).length;
  if (last === undefined) return <>none in the list of this process</>;
  return (
    <>
      the last {formatAge(Date.now() - last.atMs)} ago, {bad} of {own.length} rejected or failed (
      {Math.round((100 * bad) / own.length)} %){" "}
      <a href={linkTo("requests", undefined, new URLSearchParams({ url: url ?? "" }))}>
        Show {plural(own.length, "request")}
      </a>
    </>
  );
}

function askToDelete({ sid, friendly_name, webhook_url }: Webhook): void {
  const remove = () => change(webhooks, "The webhook was deleted.", "DELETE", `webhooks/${sid}`);
  openDialog(
    <Dialog title="Delete the webhook?" action="Delete webhook" isDangerous submit={remove}>
      <p>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        sends events to <Received text={webhook_url} class="mono" />.
      </p>
      <p>The service stops sending them at once. This cannot be undone.</p>
    </Dialog>,
  );
}

/** Opens the form that creates a webhook, or changes one. */
function openWebhookForm(webhook?: Webhook): void {
  const { receiver, eventTypes } = settings;
  const suggestedUrl = receiver?.isUrlComplete === true ? readPublicUrl() : "";
  const isNew = webhook === undefined;
  function submit(data: FormData): Promise<string> {
    // The server hides the user info of a webhook_url: a URL that is not changed is not sent.
    if (data.get("webhook_url") === webhook?.webhook_url) data.delete("webhook_url");
    const types = data.getAll("event_types");
    const event_types = types.includes("*") ? ["*"] : types;
    const body = { ...Object.fromEntries(data), event_types };
    return isNew
      ? change(webhooks, "The webhook was created.", "POST", "webhooks", body)
      : change(webhooks, "The changes were saved.", "PATCH", `webhooks/${webhook.sid}`, body);
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
        options={[
          ["*", "* all events, also types of the future"],
          ...eventTypes.map((type) => [type, type] as const),
        ]}
        chosen={webhook?.event_types ?? receiver?.handledTypes ?? []}
      />
      <Choices
        legend="Version"
        name="version"
        options={[
          ["v2", "v2, all parameters"],
          ["v1", "v1, legacy: without names, details and metadata"],
        ]}
        chosen={[webhook?.version ?? "v2"]}
      />
    </Dialog>,
  );
}

/** Findings with which the receiver gets no request, or rejects each. */
const BROKEN: ReadonlySet<Finding["code"]> = new Set(["NOT_CONFIGURED", "URL_DIFFERS", "DISABLED"]);

/** A finding about a webhook, with a button that mends it. */
export function WebhookFinding(props: { finding: Finding; webhook: Webhook; remove: () => void }) {
  const { finding, webhook, remove } = props;
  const { code, message, fix } = finding;
  const isBad = BROKEN.has(code);
  return (
    <Notice
      tone={isBad ? "bad" : "warn"}
      title={<Received text={message} />}
      button={<Writes actions={[findMend(finding, webhook, remove)]} />}
    >
      {fix}
      {code === "URL_DIFFERS" && (
        <UrlDifference label="webhook_url" url={webhook.webhook_url ?? ""} />
      )}
    </Notice>
  );
}

/** The labels of the updates that mend a finding. */
const UPDATE_LABELS: Partial<Record<Finding["code"], string>> = {
  DISABLED: "Enable the webhook",
  DUPLICATE: "Unsubscribe from the events sent twice",
  VERSION_LEGACY: "Set version to v2",
  EVENT_NOT_SUBSCRIBED: "Subscribe to",
  EVENT_NOT_HANDLED: "Unsubscribe from",
};

/** Finds the action that mends a finding; undefined where the API of the service cannot. */
function findMend(finding: Finding, webhook: Webhook, remove: () => void): Action | undefined {
  const { code, mend, eventType = "" } = finding;
  switch (mend?.action) {
    case "delete":
      return ["Delete this webhook", remove, "danger"];
    case "replace":
      return ["Replace it with a webhook that uses POST", () => replace(webhook)];
    case "update": {
      if (code === "URL_DIFFERS") return mendUrl(webhook);
      const label = `${UPDATE_LABELS[code]} ${eventType}`.trim();
      return patch(webhook, label, mend.change, code === "DISABLED" ? "primary" : "");
    }
    case undefined:
  }
  return undefined;
}

/** The new one first: no event is lost. Events that both send are dropped as duplicates or run once. */
async function replace(webhook: Webhook): Promise<string> {
  const { friendly_name, event_types, webhook_url, status, version } = webhook;
  await send("POST", "webhooks", { friendly_name, event_types, webhook_url, status, version });
  return change(webhooks, "The webhook was replaced.", "DELETE", `webhooks/${webhook.sid}`);
}
