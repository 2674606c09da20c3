import { useState } from "preact/hooks";
import type { CreatedKey, Key } from "../../client/key";
import { send } from "./api";
import { Dialog, TextField } from "./dialog";
import { Received, showInvisible } from "./received";

/** A name that is longer than this, or has invisible characters, cannot be typed again. */
const MAX_TYPED = 40;

interface KeyDialogProps {
  shown: Key;
  reload: () => Promise<void>;
}

/** The dialog that creates a key. */
export function CreateKey({ onCreated }: { onCreated: (key: CreatedKey) => Promise<void> }) {
  async function submit(data: FormData): Promise<string> {
    await onCreated(await send<CreatedKey>("POST", "keys", Object.fromEntries(data)));
    return "The key was created. Its secret is shown once.";
  }
  return (
    <Dialog title="Create a key" action="Create key" submit={submit}>
      <TextField
        label="Name"
        name="friendly_name"
        maxLength={64}
        hint="Up to 64 characters. It tells people what the key is for."
      />
    </Dialog>
  );
}

/** The dialog that renames a key. */
export function RenameKey({ shown: { sid, friendly_name }, reload }: KeyDialogProps) {
  async function submit(data: FormData): Promise<string> {
    await send("PATCH", `keys/${sid}`, Object.fromEntries(data));
    await reload();
    return "The key was renamed.";
  }
  return (
    <Dialog title="Rename the key" action="Rename key" submit={submit}>
      <TextField
        label="Name"
        name="friendly_name"
        maxLength={64}
        defaultValue={friendly_name ?? ""}
        hint="Up to 64 characters."
      />
      <p class="mono muted">{sid}</p>
    </Dialog>
  );
}

/** The dialog that revokes a key once its name was typed. */
export function RevokeKey({ shown: { sid, friendly_name }, reload }: KeyDialogProps) {
  const [typed, setTyped] = useState("");
  const name = friendly_name ?? "";
  const isTypable =
    name !== "" && name.trim() === name && name.length <= MAX_TYPED && showInvisible(name) === name;
  const wanted = isTypable ? name : sid;
  async function submit(): Promise<string> {
    await send("DELETE", `keys/${sid}`);
    await reload();
    return "The key was revoked.";
  }
  return (
    <Dialog
      title="Revoke the key?"
      action="Revoke key"
      isDangerous
      isReady={typed === wanted}
      submit={submit}
    >
      <p>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        stops working at once, wherever it is in use. This cannot be undone.
      </p>
      <p class="mono muted">{sid}</p>
      <TextField
        label={`Type "${wanted}" to confirm`}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </Dialog>
  );
}
