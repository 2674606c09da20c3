import type { CreatedKey, Key } from "../../client/key";
import { createLoader, describeFailure, send, type ProblemError } from "./api";
import { readQuery, type Context, type ConsolePage } from "./context";
import { showCreatedKey } from "./created-key";
import { actionButton, field, openDialog } from "./dialog";
import { h, received, replaceContent, type Child } from "./dom";
import { formatDate } from "./format";
import { openRename, openRevoke } from "./key-dialogs";

interface KeyPage {
  keys: readonly Key[];
  meta: { page: number | null; previous_page_url: string | null; next_page_url: string | null };
}

const FIRST_PAGE = "?page_size=20";

/** Creates the page of the keys. */
export function createKeysPage({ settings }: Context): ConsolePage {
  const { readOnly, keySid } = settings;
  const created = h("div", {});
  const list = h("div", {});
  let query = FIRST_PAGE;
  const load = createLoader(() => send<KeyPage>("GET", `keys${query}`));
  const element = h(
    "section",
    { "aria-labelledby": "keys-title" },
    h(
      "div",
      { class: "page-head" },
      h("h2", { id: "keys-title", tabindex: -1 }, "Keys"),
      !readOnly &&
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", class: "primary", click: openCreate }, "Create key"),
        ),
    ),
    created,
    h("div", { class: "panel" }, list),
  );

  function reload(): Promise<void> {
    return load(render, renderFailure);
  }

  function render({ keys, meta }: KeyPage): void {
    const previous = readQuery(meta.previous_page_url);
    const next = readQuery(meta.next_page_url);
    if (keys.length === 0) {
      return replaceContent(
        list,
        h("div", { class: "state" }, h("p", { class: "state-title" }, "There is no key here.")),
        createPager(previous, next, meta.page),
      );
    }
    replaceContent(
      list,
      h(
        "div",
        { role: "table", "aria-label": "Keys", class: "keys" },
        h(
          "div",
          { role: "rowgroup" },
          h(
            "div",
            { role: "row", class: "line heads" },
            ["Name", "SID", "Created"].map((name) => h("span", { role: "columnheader" }, name)),
            h("span", { role: "columnheader" }, h("span", { class: "unseen" }, "Actions")),
          ),
        ),
        h("div", { role: "rowgroup" }, keys.map(showKey)),
      ),
      createPager(previous, next, meta.page),
    );
  }

  function renderFailure(error: unknown): void {
    const { code } = error as ProblemError;
    replaceContent(
      list,
      h(
        "div",
        { class: "state" },
        h(
          "p",
          { class: "state-title" },
          code === "MAIN_KEY_REQUIRED"
            ? "This app may not manage keys."
            : "The keys could not be read.",
        ),
        h("p", {}, describeFailure(error)),
        actionButton("Try again", async () => {
          await reload();
          return undefined;
        }),
      ),
    );
  }

  function showKey(key: Key): HTMLElement {
    const { sid, friendly_name } = key;
    const nameId = `name-${sid}`;
    const isInUse = sid === keySid;
    return h(
      "div",
      { role: "row", class: "line" },
      h(
        "span",
        { role: "cell", class: "name" },
        h("span", { id: nameId }, received(friendly_name)),
        isInUse && [" ", h("span", { class: "pill info" }, "in use here")],
      ),
      h("span", { role: "cell", class: "mono sid" }, sid),
      h("span", { role: "cell", class: "created" }, formatDate(key.date_created)),
      h(
        "span",
        { role: "cell", class: "buttons" },
        !readOnly &&
          h(
            "button",
            {
              type: "button",
              "data-focus": `rename ${sid}`,
              "aria-describedby": nameId,
              click: () => openRename(key, reload),
            },
            "Rename",
          ),
        !readOnly &&
          !isInUse &&
          h(
            "button",
            {
              type: "button",
              class: "danger",
              "aria-describedby": nameId,
              click: () => openRevoke(key, reload),
            },
            "Revoke",
          ),
      ),
    );
  }

  function turnButton(label: string, target: string | undefined): HTMLElement {
    return h(
      "button",
      {
        type: "button",
        "data-focus": label,
        disabled: target === undefined,
        click: () => {
          query = target ?? FIRST_PAGE;
          void reload();
        },
      },
      label,
    );
  }

  function createPager(previous?: string, next?: string, page: number | null = null): Child {
    if (previous === undefined && next === undefined) return undefined;
    return h(
      "nav",
      { class: "pager", "aria-label": "Pages of keys" },
      turnButton("Previous page", previous),
      page !== null && h("span", { class: "muted" }, `Page ${page + 1}`),
      turnButton("Next page", next),
    );
  }

  function openCreate(): void {
    const name = h("input", { name: "friendly_name", maxlength: 64, autocomplete: "off" });
    openDialog({
      title: "Create a key",
      content: field("Name", name, "Up to 64 characters. It tells people what the key is for."),
      action: "Create key",
      async submit() {
        const key = await send<CreatedKey>("POST", "keys", { friendly_name: name.value });
        showCreatedKey(key, created);
        query = FIRST_PAGE;
        await reload();
        return "The key was created. Its secret is shown once.";
      },
    });
  }

  return {
    id: "keys",
    title: "Keys",
    element,
    show() {
      if (list.childNodes.length === 0)
        replaceContent(list, h("p", { class: "state" }, "Loading."));
      void reload();
    },
    // A hidden page must not keep a secret.
    hide: () => created.replaceChildren(),
  };
}
