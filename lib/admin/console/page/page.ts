import type { ConsoleSettings } from "../console-view";
import { actionButton } from "./action-button";
import { describeProblem, send } from "./api";
import { createSharedWebhooks, type Context, type ConsolePage } from "./context";
import { announce, byId, h, received, replaceContent } from "./dom";
import { createKeysPage } from "./keys-page";
import type { LiveState } from "./live";
import { createQueuePage } from "./queue-page";
import { createReceiverPage } from "./receiver-page";
import { createWebhooksPage } from "./webhooks-page";

const LIVE_TEXTS: Record<LiveState, string> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, trying again",
  forbidden: "Signed out or not allowed: reload",
};

async function start(): Promise<void> {
  const content = byId("content");
  byId("skip").addEventListener("click", () => content.focus());
  try {
    const settings = await send<ConsoleSettings>("GET", "console");
    const context: Context = { settings, webhooks: createSharedWebhooks(settings) };
    showHeader(settings);
    openPages(createPages(context));
  } catch (error) {
    replaceContent(
      content,
      h(
        "div",
        { class: "panel state" },
        h("p", { class: "state-title" }, "The console could not start."),
        h("p", {}, describeProblem(error)),
        actionButton("Try again", async () => {
          await start();
          return undefined;
        }),
      ),
    );
  }
}

function createPages(context: Context): ConsolePage[] {
  const { receiver, hasQueue } = context.settings;
  return [
    ...(receiver === undefined ? [] : [createReceiverPage(context, showLiveState)]),
    createWebhooksPage(context),
    createKeysPage(context),
    ...(hasQueue ? [createQueuePage(context)] : []),
  ];
}

function showHeader({ name, receiver, readOnly }: ConsoleSettings): void {
  const [publicUrl, ...others] = receiver?.publicUrls ?? [];
  if (publicUrl !== undefined) {
    replaceContent(
      byId("address"),
      received(publicUrl, "mono"),
      others.length > 0 && ` and ${others.length} more`,
    );
  }
  replaceContent(
    byId("title"),
    "Push webhooks",
    name !== undefined && [" ", h("span", { class: "pill info" }, name)],
    readOnly && [" ", h("span", { class: "pill off" }, "read-only")],
  );
  if (receiver !== undefined) showLiveState("connecting");
}

function showLiveState(state: LiveState): void {
  const live = byId("live");
  live.className = `live ${state}`;
  replaceContent(live, h("span", { class: "dot", "aria-hidden": "true" }), LIVE_TEXTS[state]);
}

function openPages(pages: readonly ConsolePage[]): void {
  const content = byId("content");
  const links = pages.map(({ id, title, badge }) =>
    h("a", { href: `#${id}` }, title, badge !== undefined && [" ", badge]),
  );
  replaceContent(
    byId("nav"),
    links.map((link) => h("li", {}, link)),
  );
  for (const { element } of pages) element.hidden = true;
  content.replaceChildren(...pages.map(({ element }) => element));
  let current: ConsolePage | undefined;

  function open(isFirst: boolean): void {
    const page = pages.find(({ id }) => `#${id}` === location.hash) ?? pages[0];
    if (page === undefined || page === current) return;
    if (current !== undefined) {
      current.element.hidden = true;
      current.hide?.();
    }
    current = page;
    page.element.hidden = false;
    document.title = `${page.title} · Push webhooks`;
    for (const [index, link] of links.entries()) {
      if (pages[index] === page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    page.show();
    if (isFirst) return;
    scrollTo(0, 0);
    page.element.querySelector<HTMLElement>("h2")?.focus();
  }

  addEventListener("hashchange", () => open(false));
  open(true);
  for (const page of pages) if (page !== current) page.update?.();
}

addEventListener("unhandledrejection", () => announce("The page itself failed. Reload it."));
void start();
