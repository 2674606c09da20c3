import type { QueueView } from "../console-view";
import { actionButton } from "./action-button";
import { createLoader, describeProblem, send } from "./api";
import { createBadge } from "./badge";
import { showCard } from "./card";
import type { Context, ConsolePage } from "./context";
import { createDeadLetters } from "./dead-letters";
import { h, replaceContent } from "./dom";
import { formatAge, formatCount } from "./format";

const REFRESH_MS = 5_000;
/** For the count in the navigation. */
const HIDDEN_REFRESH_MS = 30_000;

/** Creates the page of the queue: its counts and its dead letters. */
export function createQueuePage({ settings }: Context): ConsolePage {
  const { readOnly } = settings;
  const cards = h("dl", { class: "cards", "aria-label": "Events in the queue" });
  const letters = h("div", { class: "stack" });
  const showDeadLetters = createDeadLetters(readOnly, reload);
  const load = createLoader(() => send<QueueView>("GET", "console/queue"));
  const badge = createBadge();
  let timer: number | undefined;
  let rendered = "";
  const element = h(
    "section",
    { "aria-labelledby": "queue-title" },
    h(
      "div",
      { class: "page-head" },
      h("h2", { id: "queue-title", tabindex: -1 }, "Queue"),
      h(
        "div",
        { class: "buttons" },
        actionButton("Refresh", async () => {
          await reload();
          return "The queue was read again.";
        }),
      ),
    ),
    cards,
    letters,
  );

  function reload(): Promise<void> {
    return load(render, renderFailure);
  }

  function reloadEvery(ms: number): void {
    clearInterval(timer);
    timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, ms);
  }

  function render(view: QueueView): void {
    const key = JSON.stringify(view);
    if (key === rendered) return;
    rendered = key;
    const { oldestWaitingMs, workers } = view;
    cards.hidden = false;
    badge.show(view.deadLetters, "dead letter", "dead letters");
    replaceContent(
      cards,
      showCard(
        "Waiting",
        formatCount(view.waiting),
        oldestWaitingMs === undefined
          ? ""
          : view.waiting === 0
            ? "none is late"
            : `the oldest for ${formatAge(oldestWaitingMs)}`,
      ),
      showCard("Running", formatCount(view.active), "handlers run now"),
      showCard("Delayed", formatCount(view.delayed), "will be retried"),
      showCard(
        "Workers",
        workers === undefined ? "–" : formatCount(workers),
        workers === undefined ? "unknown" : workers === 0 ? "no process runs handlers" : "seen now",
        workers === 0 ? "bad" : "",
      ),
      showCard(
        "Dead letters",
        formatCount(view.deadLetters),
        "",
        view.deadLetters > 0 ? "bad" : "",
      ),
    );
    replaceContent(letters, showDeadLetters(view));
  }

  function renderFailure(error: unknown): void {
    rendered = "";
    cards.hidden = true;
    replaceContent(
      letters,
      h(
        "div",
        { class: "panel state" },
        h("p", { class: "state-title" }, "The queue could not be read."),
        h("p", {}, describeProblem(error)),
        h("p", {}, `The page tries again every ${REFRESH_MS / 1_000} s.`),
      ),
    );
  }

  return {
    id: "queue",
    title: "Queue",
    element,
    badge: badge.element,
    show() {
      if (rendered === "") replaceContent(letters, h("p", { class: "state" }, "Loading."));
      void reload();
      reloadEvery(REFRESH_MS);
    },
    hide: () => reloadEvery(HIDDEN_REFRESH_MS),
    update() {
      void reload();
      reloadEvery(HIDDEN_REFRESH_MS);
    },
  };
}
