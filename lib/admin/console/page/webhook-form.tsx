import type { Webhook } from "../../client/webhook";
import { change, readPublicUrl, settings } from "./api";
import { Choices, Dialog, openDialog, TextField } from "./dialog";
import { webhooks } from "./webhooks";

/** Opens the form that creates a webhook, or changes one. */
export function openWebhookForm(webhook?: Webhook): void {
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
