import { useState } from "preact/hooks";
import type { Webhook } from "../../client/webhook";
import { send } from "./api";
import { Choices, Dialog, TextField } from "./dialog";
import { readPublicUrl, settings } from "./settings";
import { webhooks } from "./webhooks";

/** The form that creates a webhook, or changes one. */
export function WebhookForm({ webhook }: { webhook?: Webhook }) {
  const { receiver } = settings;
  const [types, setTypes] = useState<readonly string[]>(
    webhook?.event_types ?? receiver?.handledTypes ?? [],
  );
  const suggestedUrl = receiver?.isUrlComplete === true ? readPublicUrl() : "";
  const isNew = webhook === undefined;
  async function submit(data: FormData): Promise<string> {
    const body = { ...Object.fromEntries(data), event_types: types.includes("*") ? ["*"] : types };
    if (isNew) await send("POST", "webhooks", body);
    else await send("PATCH", `webhooks/${webhook.sid}`, body);
    await webhooks.reload();
    return isNew ? "The webhook was created." : "The changes were saved.";
  }
  return (
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
      <TypeChoice types={types} onChange={setTypes} />
      <Choices
        legend="Version"
        name="version"
        options={[
          ["v2", "v2", "All parameters."],
          ["v1", "v1, legacy", "Without names, details and metadata."],
        ]}
        chosen={webhook?.version}
      />
      <Choices
        legend="Status"
        name="status"
        options={[
          ["enabled", "Enabled"],
          ["disabled", "Disabled", "The service sends nothing."],
        ]}
        chosen={webhook?.status}
      />
    </Dialog>
  );
}

/** `*` includes all types, and those of the future. */
function TypeChoice(props: { types: readonly string[]; onChange: (types: string[]) => void }) {
  const { types, onChange } = props;
  const isAll = types.includes("*");
  const setValidity = (input: HTMLInputElement | null) =>
    input?.setCustomValidity(types.length > 0 ? "" : "Choose at least one event type.");
  return (
    <fieldset class="types">
      <legend>Event types</legend>
      {["*", ...settings.eventTypes].map((type) => (
        <label class="choice" key={type}>
          <input
            type="checkbox"
            ref={type === "*" ? setValidity : null}
            disabled={isAll && type !== "*"}
            checked={types.includes(type)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...types, type] : types.filter((one) => one !== type))
            }
          />
          {type === "*" ? (
            <span>
              All events <code>*</code>
              <small>Also types of the future.</small>
            </span>
          ) : (
            <code>{type}</code>
          )}
        </label>
      ))}
    </fieldset>
  );
}
