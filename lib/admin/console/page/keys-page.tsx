import type { CreatedKey, Key } from "../../client/key";
import { Button, Writes } from "./action";
import { change, send, settings } from "./api";
import {
  Cells,
  type Column,
  EmptyState,
  FilterForm,
  LoadedPage,
  Notice,
  Pill,
  Table,
} from "./blocks";
import { Dialog, openDialog, TextField } from "./dialog";
import { formatDate } from "./format";
import { CopyButton, Facts, Received, showInvisible } from "./received";
import { place } from "./route";
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
  return (
    <LoadedPage
      title="Keys"
      loader={keys}
      failed="The keys could not be read."
      create={["Create key", askToCreate, "primary"]}
      top={useStore(created).map((key) => (
        <NewKey key={key.sid} created={key} />
      ))}
    >
      {(all) =>
        all.length === 0 ? <EmptyState title="There is no key here." /> : <KeyTable all={all} />
      }
    </LoadedPage>
  );
}

/** The secret of a new key, shown once, in a place of its own. */
function NewKey({ created: { sid, friendly_name, secret } }: { created: CreatedKey }) {
  const dismiss = () => created.set(created.value.filter((key) => key.sid !== sid));
  return (
    <Notice tone="warn" title="Store this secret now: it will never be shown again.">
      <Facts
        class="secret mono"
        facts={[
          ["Name", friendly_name],
          ["SID", sid, true],
          ["Secret", secret, true],
        ]}
      />
      <Button run={dismiss}>I have stored it</Button>
    </Notice>
  );
}

const COLUMNS: readonly Column<Key>[] = [
  {
    name: "name",
    title: "Name",
    width: "minmax(20ch, 1fr)",
    show: ({ sid, friendly_name }) => (
      <>
        <Received text={friendly_name} id={`name-${sid}`} />{" "}
        {sid === settings.keySid && <Pill tone="info">in use here</Pill>}
      </>
    ),
  },
  {
    name: "sid",
    title: "SID",
    width: "minmax(max-content, auto)",
    show: ({ sid }) => (
      <>
        <span class="mono">{sid}</span> <CopyButton text={sid} what={`SID ${sid}`} />
      </>
    ),
  },
  {
    name: "created",
    title: "Created",
    width: "max-content",
    show: ({ date_created }) => formatDate(date_created),
  },
  {
    name: "actions",
    title: <span class="unseen">Actions</span>,
    width: "max-content",
    show: (key) => (
      <div class="buttons">
        <Writes
          about={`name-${key.sid}`}
          actions={[
            ["Rename", () => askToRename(key)],
            key.sid === settings.keySid ? undefined : ["Revoke", () => askToRevoke(key), "danger"],
          ]}
        />
      </div>
    ),
  },
];

function KeyTable({ all }: { all: readonly Key[] }) {
  const sought = (useStore(place).query.get("q") ?? "").trim().toLowerCase();
  const found = all.filter(({ sid, friendly_name }) =>
    `${friendly_name} ${sid}`.toLowerCase().includes(sought),
  );
  return (
    <div class="panel">
      <FilterForm search="Find by name or SID" lists={[]} />
      <Table class="keys" label="Keys" columns={COLUMNS}>
        {found.map((key) => (
          <tr role="row" class="line" key={key.sid}>
            <Cells columns={COLUMNS} row={key} />
          </tr>
        ))}
      </Table>
      {found.length === 0 && <p class="state">No key matches this search.</p>}
    </div>
  );
}

/** Asks for the name of a key, and creates it. */
function askToCreate(): void {
  openDialog(
    <Dialog title="Create a key" action="Create key" submit={create}>
      <NameField name="" />
    </Dialog>,
  );
}

async function create(data: FormData): Promise<string> {
  const key = await send<CreatedKey>("POST", "keys", Object.fromEntries(data));
  created.set([...created.value, key]);
  await keys.reload();
  return "The key was created. Its secret is shown once.";
}

/** Asks for another name of a key. */
function askToRename({ sid, friendly_name }: Key): void {
  const rename = (data: FormData) =>
    change(keys, "The key was renamed.", "PATCH", `keys/${sid}`, Object.fromEntries(data));
  openDialog(
    <Dialog title="Rename the key" action="Rename key" submit={rename}>
      <NameField name={friendly_name ?? ""} />
      <p class="mono muted">{sid}</p>
    </Dialog>,
  );
}

function NameField({ name }: { name: string }) {
  return (
    <TextField
      label="Name"
      name="friendly_name"
      maxLength={64}
      defaultValue={name}
      hint="Up to 64 characters. It tells people what the key is for."
    />
  );
}

/** Asks for the name of a key before it is revoked. */
function askToRevoke({ sid, friendly_name }: Key): void {
  const name = friendly_name ?? "";
  const isTypable =
    name !== "" && name.trim() === name && name.length <= MAX_TYPED && showInvisible(name) === name;
  openDialog(
    <Dialog
      title="Revoke the key?"
      action="Revoke key"
      isDangerous
      confirmation={isTypable ? name : sid}
      submit={() => change(keys, "The key was revoked.", "DELETE", `keys/${sid}`)}
    >
      <p>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        stops working at once, wherever it is in use. This cannot be undone.
      </p>
      <p class="mono muted">{sid}</p>
    </Dialog>,
  );
}
