import type { DeadLetterGroup, DeadLetterRow, QueueView } from "../console-view";
import { createLetterButtons } from "./dead-letter-buttons";
import { h, received, type Child } from "./dom";
import { listFacts } from "./facts";
import { formatCount, formatDate, plural } from "./format";

/** Creates the view of dead letters, grouped by error; `reload` reads the queue after a change. */
export function createDeadLetters(
  readOnly: boolean,
  reload: () => Promise<void>,
): (view: QueueView) => Child {
  const { retryButton, discardButton } = createLetterButtons(reload);

  function listGroups({ groups, deadLetters, isCut }: QueueView): Child {
    return [
      h(
        "div",
        { class: "section-head" },
        h("h3", {}, "Dead letters by error"),
        !readOnly &&
          h(
            "div",
            { class: "buttons" },
            retryButton(`Retry all ${formatCount(deadLetters)}`, { all: true }),
            discardButton(`Discard all ${formatCount(deadLetters)}`, { all: true }, deadLetters),
          ),
      ),
      isCut &&
        h("p", { class: "notice warn" }, "There are more dead letters than are listed here."),
      groups.map(showGroup),
    ];
  }

  function showGroup({ error, count, letters: shown }: DeadLetterGroup): HTMLElement {
    return h(
      "article",
      { class: "panel" },
      h(
        "div",
        { class: "panel-head" },
        h(
          "div",
          { class: "error-text" },
          h("span", { class: "pill bad", "aria-hidden": "true" }, formatCount(count)),
          h("h4", {}, received(error)),
        ),
        !readOnly &&
          count > 1 &&
          h(
            "div",
            { class: "buttons" },
            retryButton(`Retry these ${formatCount(count)}`, { error }),
            discardButton(`Discard these ${formatCount(count)}`, { error }, count),
          ),
      ),
      h(
        "details",
        { open: count === 1, "data-key": error },
        h(
          "summary",
          {},
          shown.length < count
            ? `The newest ${shown.length} of ${formatCount(count)}`
            : plural(count, "event"),
        ),
        h("ul", { class: "letters" }, shown.map(showLetter)),
      ),
    );
  }

  function showLetter(letter: DeadLetterRow): HTMLElement {
    const { uuid, accountSid, receiver, type, entity, attempts, failedAtMs } = letter;
    const choice = { uuid, accountSid, ...(receiver !== undefined && { receiver }) };
    const failedAt = new Date(failedAtMs).toISOString();
    return h(
      "li",
      { class: "letter" },
      h(
        "div",
        {},
        h(
          "p",
          {},
          type === undefined ? "unreadable event" : received(type),
          " ",
          h("span", { class: "muted" }, entity === undefined ? "" : received(entity)),
        ),
        h("p", { class: "muted small" }, received(uuid, "mono")),
        h(
          "p",
          { class: "muted small" },
          `${plural(attempts, "attempt")}, the last failed `,
          h("time", { datetime: failedAt }, formatDate(failedAt)),
        ),
        showEvent(letter),
      ),
      !readOnly &&
        h(
          "div",
          { class: "buttons" },
          retryButton("Retry", choice),
          discardButton("Discard", choice, 1),
        ),
    );
  }

  return (view) => (view.groups.length === 0 ? describeNoLetters() : listGroups(view));
}

function describeNoLetters(): HTMLElement {
  return h(
    "div",
    { class: "panel state" },
    h("p", { class: "state-title" }, "No dead letters."),
    h("p", {}, "Every event that failed was handled by a later attempt, or is being retried."),
  );
}

function showEvent({ uuid, accountSid, receiver, ...event }: DeadLetterRow): HTMLElement {
  return h(
    "details",
    { "data-key": JSON.stringify([uuid, accountSid, receiver]) },
    h("summary", {}, "Event"),
    listFacts([
      ["Version", event.version],
      ["Account", accountSid],
      ["Factor", event.factorSid],
      ["Challenge", event.challengeSid],
      ["Receiver", receiver],
      ...event.revealed,
    ]),
  );
}
