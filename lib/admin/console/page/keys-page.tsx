import type { CreatedKey, Key } from "../../client/key";
import { Button, WriteButton } from "./action";
import { change, read, send, settings } from "./api";
import { LoadedPage, Notice, Pill } from "./blocks";
import { Changes } from "./changes";
import { Dialog, openDialog, TextField } from "./dialog";
import { formatDate } from "./format";
import { CopyButton, Fact, Received } from "./received";
import { createStore, Loader } from "./store";

/** The newest 1,000. */
const keys = new Loader(() => read<{ keys: Key[] }>("keys?page_size=1000"));
/** New keys whose secret was not stored yet; each stays until its user says so. */
const createdKeys = createStore<readonly CreatedKey[]>([]);

addEventListener("beforeunload", (event) => {
  if (createdKeys.value.length > 0) event.preventDefault();
});

/** The page of the keys. */
export function KeysPage() {
  const create = <WriteButton label="Create key" class="primary" run={openKeyForm} />;
  return (
    <LoadedPage title="Keys" loader={keys} create={create}>
      {({ keys: all }) => [
        <Changes of={["key"]} />,
        <div class="panel keys">
          {all.map((key) => (
            <KeyLine key={key.sid} {...key} />
          ))}
          {all.length === 0 && <p class="state">There is no key here.</p>}
        </div>,
      ]}
    </LoadedPage>
  );
}

/** Shows new secrets on each page. */
export const NewSecrets = () =>
  createdKeys.value.map(({ sid, friendly_name, secret }) => (
    <Notice
      key={sid}
      tone="warn"
      title="Store this secret now: it will never be shown again."
      button={<Button label="I have stored it" run={() => forget(sid)} />}
    >
      <dl class="facts mono">
        <Fact name="Name">{friendly_name}</Fact>
        <Fact name="SID">{sid}</Fact>
        <Fact name="Secret">{secret}</Fact>
      </dl>
    </Notice>
  ));

function forget(sid: string): void {
  createdKeys.value = createdKeys.value.filter((other) => other.sid !== sid);
}

function KeyLine(key: Key) {
  const { sid, friendly_name, date_created } = key;
  const isInUse = sid === settings.keySid;
  return (
    <div class="line">
      <div class="text">
        <Received text={friendly_name} id={`name-${sid}`} />{" "}
        {isInUse && <Pill tone="info">in use here</Pill>}{" "}
        <small>created {formatDate(date_created)}</small>
      </div>
      <div class="text">
        <span class="mono">{sid}</span> <CopyButton text={sid} what={`SID ${sid}`} />
      </div>
      <div class="buttons">
        {!isInUse && (
          <WriteButton
            label="Revoke"
            class="danger"
            aria-describedby={`name-${sid}`}
            run={() => askToRevoke(key)}
          />
        )}
      </div>
    </div>
  );
}

async function createKey(data: FormData): Promise<string> {
  const created = await send<CreatedKey>("POST", "keys", Object.fromEntries(data));
  createdKeys.value = [...createdKeys.value, created];
  await keys.reload();
  return "The key was created. Its secret is shown once.";
}

function openKeyForm(): void {
  openDialog(
    <Dialog title="Create a key" action="Create key" submit={createKey}>
      <TextField
        label="Name"
        name="friendly_name"
        maxLength={64}
        hint="Up to 64 characters. It tells people what the key is for."
      />
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
