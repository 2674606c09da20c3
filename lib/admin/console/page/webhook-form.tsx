import type { Webhook } from "../../client/webhook";
import { change, ProblemError, read, readPublicUrl, settings } from "./api";
import { toOptions } from "./blocks";
import { Choices, Dialog, openDialog, TextField } from "./dialog";
import { webhooks } from "./webhooks";

/** The order of event types means nothing. */
const show = (value: unknown) => (Array.isArray(value) ? value.toSorted().join() : value);

/** Lists the fields of a form that are not as in a webhook. */
function listEdits(body: object, webhook: Webhook): [name: string, value: unknown][] {
  return Object.entries(body).filter(
    ([name, value]) => show(value) !== show(webhook[name as keyof Webhook]),
  );
}

/** Sends the fields that were changed, unless one of the fields of a form has changed meanwhile. */
export async function saveEdits(
  body: object,
  webhook: Webhook,
  said = "The changes were saved.",
): Promise<string> {
  const path = `webhooks/${webhook.sid}`;
  // Also because the server hides the user info of a webhook_url.
  const edits = listEdits(body, webhook);
  const now = await read<Webhook>(path);
  if (listEdits(webhook, now).some(([name]) => name in body)) {
    await webhooks.reload();
    throw new ProblemError(0, "", "The webhook has changed meanwhile.");
  }
  if (edits.length === 0) return "Nothing was changed.";
  return change(webhooks, said, "PATCH", path, Object.fromEntries(edits));
}

/** Opens the form of a webhook, or of a new one. */
export function openWebhookForm(webhook?: Webhook): void {
  const { receiver, eventTypes } = settings;
  async function submit(data: FormData): Promise<string> {
    const types = data.getAll("event_types");
    if (types.length === 0) throw new ProblemError(0, "", "Tick at least one event type.");
    const event_types = types.includes("*") ? ["*"] : types;
    const body = { ...Object.fromEntries(data), event_types };
    if (webhook !== undefined) return saveEdits(body, webhook);
    return change(webhooks, "The webhook was created.", "POST", "webhooks", body);
  }
  openDialog(
    <Dialog
      title={webhook ? "Edit the webhook" : "Create a webhook"}
      action={webhook ? "Save changes" : "Create webhook"}
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
        defaultValue={webhook?.webhook_url ?? readPublicUrl()}
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
      <Choices
        legend="Status"
        name="status"
        options={{
          enabled: "enabled",
          disabled: "disabled: the service sends none of its events, also not later",
        }}
        chosen={[webhook?.status ?? "enabled"]}
      />
    </Dialog>,
  );
}
