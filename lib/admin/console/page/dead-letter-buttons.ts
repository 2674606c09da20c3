import { actionButton } from "./action-button";
import { send } from "./api";
import { openDialog } from "./dialog";
import { h } from "./dom";
import { plural } from "./format";

/** Dead letters to retry or discard: one, those with an error, or all. */
type Choice =
  { all: true } | { error: string } | { uuid: string; accountSid: string; receiver?: string };

/** Creates the buttons that retry and discard dead letters; `reload` reads the queue after that. */
export function createLetterButtons(reload: () => Promise<void>) {
  function retryButton(label: string, choice: Choice): HTMLElement {
    return actionButton(
      label,
      async () => {
        const { count } = await send<{ count: number }>(
          "POST",
          "console/dead-letters/retry",
          choice,
        );
        await reload();
        return `${plural(count, "event")} will be handled again.`;
      },
      { focus: `retry ${JSON.stringify(choice)}` },
    );
  }

  function discardButton(label: string, choice: Choice, count: number): HTMLElement {
    return h(
      "button",
      {
        type: "button",
        class: "danger",
        "data-focus": `discard ${JSON.stringify(choice)}`,
        click: () => confirmDiscard(choice, count),
      },
      label,
    );
  }

  function confirmDiscard(choice: Choice, count: number): void {
    const what = plural(count, "dead letter");
    openDialog({
      title: `Discard ${what}?`,
      content: h(
        "p",
        {},
        count === 1
          ? "Its handlers will never run, also not when the service sends it again. This cannot be undone."
          : "Their handlers will never run, also not when the service sends them again. This cannot be undone.",
      ),
      action: `Discard ${what}`,
      isDangerous: true,
      async submit() {
        const { count: done } = await send<{ count: number }>(
          "POST",
          "console/dead-letters/discard",
          choice,
        );
        await reload();
        return `${plural(done, "event")} discarded.`;
      },
    });
  }

  return { retryButton, discardButton };
}
