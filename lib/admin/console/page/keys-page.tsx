import { useEffect, useState } from "preact/hooks";
import type { CreatedKey, Key } from "../../client/key";
import { ActionButton } from "./action-button";
import { describeProblem, type ProblemError } from "./api";
import { openDialog } from "./dialog";
import { formatDate } from "./format";
import { CreateKey, RenameKey, RevokeKey } from "./key-dialogs";
import { CopyButton, EmptyState, Facts, Received } from "./received";
import { settings } from "./settings";
import { createLoader, createStore, useStore } from "./store";
import { listAll } from "./webhooks";

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
  const { value, error } = useStore(keys.store);
  useEffect(() => void keys.reload(), []);
  const addCreated = async (key: CreatedKey) => {
    created.set([...created.value, key]);
    await keys.reload();
  };
  return (
    <section aria-labelledby="keys-title">
      <div class="page-head">
        <h2 id="keys-title" tabIndex={-1}>
          Keys
        </h2>
        <div class="buttons">
          <ActionButton label="Refresh" run={() => keys.reload()} />
          {!settings.readOnly && (
            <button
              type="button"
              class="primary"
              onClick={() => openDialog(<CreateKey onCreated={addCreated} />)}
            >
              Create key
            </button>
          )}
        </div>
      </div>
      {useStore(created).map((key) => (
        <NewKey key={key.sid} created={key} />
      ))}
      <div class="panel">
        {error !== undefined ? (
          <EmptyState
            title={
              (error as ProblemError).code === "MAIN_KEY_REQUIRED"
                ? "This app may not manage keys."
                : "The keys could not be read."
            }
          >
            <p>{describeProblem(error)}</p>
            <ActionButton label="Try again" run={() => keys.reload()} />
          </EmptyState>
        ) : value === undefined ? (
          <p class="state">Loading.</p>
        ) : value.length === 0 ? (
          <EmptyState title="There is no key here." />
        ) : (
          <KeyTable all={value} />
        )}
      </div>
    </section>
  );
}

/** The secret of a new key, shown once, in a place of its own. */
function NewKey({ created: { sid, friendly_name, secret } }: { created: CreatedKey }) {
  const dismiss = () => created.set(created.value.filter((key) => key.sid !== sid));
  return (
    <div class="notice warn secret" role="group" aria-label="New key">
      <p tabIndex={-1} ref={focusOnce}>
        <b>
          <Received text={friendly_name} />
        </b>{" "}
        was created. <b>Store this secret now: it will never be shown again.</b>
      </p>
      <Facts facts={[["SID", sid, true]]} />
      <code class="value">{secret}</code>
      <span class="buttons">
        <CopyButton text={secret} what="the secret" />
        <button type="button" onClick={dismiss}>
          I have stored it
        </button>
      </span>
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
    <>
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
      <div role="table" aria-label="Keys" class="keys">
        <div role="rowgroup">
          <div role="row" class="line heads">
            {COLUMNS.map(([field, name]) => (
              <span
                role="columnheader"
                aria-sort={order === field ? "ascending" : "none"}
                key={field}
              >
                <button
                  type="button"
                  class="plain"
                  onClick={() => setOrder(order === field ? undefined : field)}
                >
                  {name}
                  {order === field && " ↓"}
                </button>
              </span>
            ))}
            <span role="columnheader" class="unseen">
              Actions
            </span>
          </div>
        </div>
        <div role="rowgroup">
          {sorted.map((key) => (
            <KeyRow key={key.sid} shown={key} />
          ))}
        </div>
      </div>
      {sorted.length === 0 && <p class="state">No key matches this search.</p>}
    </>
  );
}

function KeyRow({ shown }: { shown: Key }) {
  const { sid, friendly_name } = shown;
  const nameId = `name-${sid}`;
  const isInUse = sid === settings.keySid;
  return (
    <div role="row" class="line">
      <span role="cell" class="name">
        <span id={nameId}>
          <Received text={friendly_name} />
        </span>{" "}
        {isInUse && <span class="pill info">in use here</span>}
      </span>
      <span role="cell" class="sid">
        <span class="mono">{sid}</span> <CopyButton text={sid} what={`SID ${sid}`} />
      </span>
      <span role="cell">{formatDate(shown.date_created)}</span>
      <span role="cell" class="buttons">
        {!settings.readOnly && (
          <button
            type="button"
            aria-describedby={nameId}
            onClick={() => openDialog(<RenameKey shown={shown} reload={keys.reload} />)}
          >
            Rename
          </button>
        )}
        {!settings.readOnly && !isInUse && (
          <button
            type="button"
            class="danger"
            aria-describedby={nameId}
            onClick={() => openDialog(<RevokeKey shown={shown} reload={keys.reload} />)}
          >
            Revoke
          </button>
        )}
      </span>
    </div>
  );
}
