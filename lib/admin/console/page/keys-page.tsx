import type { CreatedKey, Key } from "../../client/key";
import { Button, WriteButton } from "./action";
import { change, send, settings } from "./api";
import { LoadedPage, Notice, Pill } from "./blocks";
import { Changes } from "./changes";
import { Dialog, openDialog, TextField } from "./dialog";
import { formatDate } from "./format";
import { CopyButton, Facts, Received } from "./received";
import { createLoader, createStore } from "./store";
import { listAll } from "./webhooks";

const keys = createLoader(() => listAll<Key>("keys"));
/** New keys whose secret was not stored yet; each stays until its user says so. */
export const createdKeys = createStore<readonly CreatedKey[]>([]);

addEventListener("beforeunload", (event) => {
  if (createdKeys.value.length > 0) event.preventDefault();
});

/** The page of the keys. */
export function KeysPage() {
  return (
    <LoadedPage
      title="Keys"
      loader={keys}
      create={<WriteButton label="Create key" class="primary" run={() => openKeyForm()} />}
      top={[
        createdKeys.value.map((key) => <NewKey key={key.sid} {...key} />),
        <Changes of={["key"]} />,
      ]}
    >
      {(all) =>
        all.length === 0 ? (
          <p class="panel state">There is no key here.</p>
        ) : (
          <div class="panel keys">
            {all.map((key) => (
              <KeyLine key={key.sid} {...key} />
            ))}
          </div>
        )
      }
    </LoadedPage>
  );
}

function NewKey({ sid, friendly_name, secret }: CreatedKey) {
  const dismiss = () =>
    (createdKeys.value = createdKeys.value.filter((other) => other.sid !== sid));
  return (
    <Notice tone="warn" title="Store this secret now: it will never be shown again.">
      <Facts class="secret mono" of={{ Name: friendly_name, SID: sid, Secret: secret }} />
      <Button label="I have stored it" run={dismiss} />
    </Notice>
  );
}

function KeyLine(key: Key) {
  const { sid, friendly_name, date_created } = key;
  const isInUse = sid === settings.keySid;
  const about = { "aria-describedby": `name-${sid}` };
  return (
    <div class="line">
      <div class="text">
        <Received text={friendly_name} id={`name-${sid}`} class="name" />{" "}
        {isInUse && <Pill tone="info">in use here</Pill>}{" "}
        <small>created {formatDate(date_created)}</small>
      </div>
      <div class="text">
        <span class="mono">{sid}</span> <CopyButton text={sid} what={`SID ${sid}`} />
      </div>
      <div class="buttons">
        <WriteButton label="Rename" {...about} run={() => openKeyForm(key)} />
        {!isInUse && (
          <WriteButton label="Revoke" class="danger" {...about} run={() => askToRevoke(key)} />
        )}
      </div>
    </div>
  );
}

function openKeyForm(key?: Key): void {
  async function submit(data: FormData): Promise<string> {
    const body = Object.fromEntries(data);
    if (key !== undefined) {
      return change(keys, "The key was renamed.", "PATCH", `keys/${key.sid}`, body);
    }
    const created = await send<CreatedKey>("POST", "keys", body);
    createdKeys.value = [...createdKeys.value, created];
    await keys.reload();
    return "The key was created. Its secret is shown once.";
  }
  openDialog(
    <Dialog
      title={key === undefined ? "Create a key" : "Rename the key"}
      action={key === undefined ? "Create key" : "Rename key"}
      submit={submit}
    >
      <TextField
        label="Name"
        name="friendly_name"
        maxLength={64}
        defaultValue={key?.friendly_name ?? ""}
        hint="Up to 64 characters. It tells people what the key is for."
      />
      <p class="mono muted">{key?.sid}</p>
    </Dialog>,
  );
}

function askToRevoke({ sid, friendly_name }: Key): void {
  // A name that is a pattern of itself, and that can be typed.
  const [word = sid] = /^[\w -]{1,40}$/.exec(friendly_name ?? "") ?? [];
  const revoke = () => change(keys, "The key was revoked.", "DELETE", `keys/${sid}`);
  openDialog(
    <Dialog action="Revoke key" isDangerous submit={revoke}>
      <p>
        <Received text={friendly_name} /> stops working at once, wherever it is in use. This cannot
        be undone.
      </p>
      <p class="mono muted">{sid}</p>
      <TextField label={`Type "${word}" to confirm`} required pattern={word} />
    </Dialog>,
  );
}
