import type { CreatedKey, Key } from "../../client/key";
import { actionButton } from "./action-button";
import { createLoader, describeProblem, send, type ProblemError } from "./api";
import { readQuery, type Context, type ConsolePage } from "./context";
import { showCreatedKey } from "./created-key";
import { openDialog } from "./dialog";
import { h, replaceContent } from "./dom";
import { field } from "./form-fields";
import { showKeyTable } from "./key-table";
import { showPager } from "./pager";

interface KeyPage {
  keys: readonly Key[];
  meta: { page: number | null; previous_page_url: string | null; next_page_url: string | null };
}

const FIRST_PAGE = "?page_size=20";

/** Creates the page of the keys. */
export function createKeysPage({ settings }: Context): ConsolePage {
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
      !settings.readOnly &&
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
    const neighbours = {
      previous: readQuery(meta.previous_page_url),
      next: readQuery(meta.next_page_url),
      page: meta.page,
    };
    const pager = showPager("Pages of keys", neighbours, (target) => {
      query = target;
      void reload();
    });
    if (keys.length === 0) {
      return replaceContent(
        list,
        h("div", { class: "state" }, h("p", { class: "state-title" }, "There is no key here.")),
        pager,
      );
    }
    replaceContent(list, showKeyTable(keys, settings, reload), pager);
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
        h("p", {}, describeProblem(error)),
        actionButton("Try again", async () => {
          await reload();
          return undefined;
        }),
      ),
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
