import { useEffect, useState } from "preact/hooks";
import type { CreatedKey, Key } from "../../client/key";
import { Button } from "./action";
import { send, type ProblemError } from "./api";
import { EmptyState, LoadedBlock, Pill, Section } from "./blocks";
import { Dialog, openDialog, TextField } from "./dialog";
import { formatDate } from "./format";
import { CopyButton, Facts, Received, showInvisible } from "./received";
import { settings } from "./settings";
import { createLoader, createStore, useStore } from "./store";
import { listAll } from "./webhooks";

/** A name that is longer than this, or has invisible characters, cannot be typed again. */
const MAX_TYPED = 40;

const keys = createLoader(() => listAll<Key>("keys"));
/** New keys whose secret was not stored yet; each stays until its user says so. */
const created = createStore<readonly CreatedKey[]>([]);

addEventListener("beforeunload", (event) => {
  if (created.value.length > 0) event.preventDefault();
});

/** How many new keys wait for their user to store the secret. */
export const useUnstoredKeys = () => useStore(created).length;

/** The page of the keys. */
export function KeysPage() {
  useEffect(() => void keys.reload(), []);
  return (
    <Section
      title="Keys"
      loader={keys}
      buttons={
        !settings.readOnly && (
          <Button class="primary" run={() => openDialog(<NameKey />)}>
            Create key
          </Button>
        )
      }
    >
      {useStore(created).map((key) => (
        <NewKey key={key.sid} created={key} />
      ))}
      <LoadedBlock
        loader={keys}
        failed={(error) =>
          (error as ProblemError).code === "MAIN_KEY_REQUIRED"
            ? "This app may not manage keys."
            : "The keys could not be read."
        }
      >
        {(all) =>
          all.length === 0 ? <EmptyState title="There is no key here." /> : <KeyTable all={all} />
        }
      </LoadedBlock>
    </Section>
  );
}

/** The secret of a new key, shown once, in a place of its own. */
function NewKey({ created: { sid, friendly_name, secret } }: { created: CreatedKey }) {
  const dismiss = () => created.set(created.value.filter((key) => key.sid !== sid));
  return (
    <div class="notice warn secret" role="group" aria-label="New key">
      <p class="text" tabIndex={-1} ref={focusOnce}>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        was created. <b>Store this secret now: it will never be shown again.</b>
      </p>
      <Facts facts={[["SID", sid, true]]} />
      <code>{secret}</code>
      <CopyButton text={secret} what="the secret" />
      <Button run={dismiss}>I have stored it</Button>
    </div>
  );
}

// After the dialog has closed and given the focus back.
const focusOnce = (element: HTMLElement | null) => void setTimeout(() => element?.focus());

const COLUMNS = [
  ["friendly_name", "Name"],
  ["sid", "SID"],
  ["date_created", "Created"],
] as const;

function KeyTable({ all }: { all: readonly Key[] }) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<(typeof COLUMNS)[number][0] | undefined>();
  const sought = text.trim().toLowerCase();
  const found = all.filter(({ sid, friendly_name }) =>
    `${friendly_name} ${sid}`.toLowerCase().includes(sought),
  );
  // The service lists them by age; a date has no order as a text.
  const rank = (key: Key) =>
    order === "date_created" ? Date.parse(key.date_created ?? "") : (key[order ?? "sid"] ?? "");
  const sorted =
    order === undefined ? found : found.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return (
    <div class="panel">
      <div class="panel-head">
        <input
          type="search"
          class="search"
          aria-label="Find by name or SID"
          placeholder="Find by name or SID"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <table class="keys" aria-label="Keys">
        <thead>
          <tr>
            {COLUMNS.map(([field, name]) => (
              <th key={field} class={field} aria-sort={order === field ? "ascending" : "none"}>
                <Button
                  class="plain"
                  run={() => setOrder(order === field ? undefined : field)}
                >{`${name}${order === field ? " ↓" : ""}`}</Button>
              </th>
            ))}
            <th>
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((key) => (
            <KeyRow key={key.sid} shown={key} />
          ))}
        </tbody>
      </table>
      {sorted.length === 0 && <p class="state">No key matches this search.</p>}
    </div>
  );
}

function KeyRow({ shown }: { shown: Key }) {
  const { sid, friendly_name } = shown;
  const nameId = `name-${sid}`;
  const isInUse = sid === settings.keySid;
  return (
    <tr class="line">
      <td class="name">
        <Received text={friendly_name} id={nameId} />{" "}
        {isInUse && <Pill tone="info">in use here</Pill>}
      </td>
      <td class="sid">
        <span class="mono">{sid}</span> <CopyButton text={sid} what={`SID ${sid}`} />
      </td>
      <td>{formatDate(shown.date_created)}</td>
      <td class="buttons">
        {!settings.readOnly && (
          <Button aria-describedby={nameId} run={() => openDialog(<NameKey shown={shown} />)}>
            Rename
          </Button>
        )}
        {!settings.readOnly && !isInUse && (
          <Button
            class="danger"
            aria-describedby={nameId}
            run={() => openDialog(<RevokeKey shown={shown} />)}
          >
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}

/** The dialog that creates a key, or renames one. */
function NameKey({ shown }: { shown?: Key }) {
  const action = shown === undefined ? "Create" : "Rename";
  async function submit(data: FormData): Promise<string> {
    const body = Object.fromEntries(data);
    if (shown !== undefined) await send("PATCH", `keys/${shown.sid}`, body);
    else created.set([...created.value, await send<CreatedKey>("POST", "keys", body)]);
    await keys.reload();
    return shown === undefined
      ? "The key was created. Its secret is shown once."
      : "The key was renamed.";
  }
  return (
    <Dialog
      title={`${action} ${shown === undefined ? "a" : "the"} key`}
      action={`${action} key`}
      submit={submit}
    >
      <TextField
        label="Name"
        name="friendly_name"
        maxLength={64}
        defaultValue={shown?.friendly_name ?? ""}
        hint="Up to 64 characters. It tells people what the key is for."
      />
      <p class="mono muted">{shown?.sid}</p>
    </Dialog>
  );
}

/** The dialog that revokes a key once its name was typed. */
function RevokeKey({ shown: { sid, friendly_name } }: { shown: Key }) {
  const [typed, setTyped] = useState("");
  const name = friendly_name ?? "";
  const isTypable =
    name !== "" && name.trim() === name && name.length <= MAX_TYPED && showInvisible(name) === name;
  const wanted = isTypable ? name : sid;
  async function submit(): Promise<string> {
    await send("DELETE", `keys/${sid}`);
    await keys.reload();
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
