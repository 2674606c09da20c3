import { describeProblem } from "./api";
import { announce, h, newId, type Child } from "./dom";

/** The result of an action that was not done. */
export const KEEP_OPEN = Symbol("keep open");

/** What a dialog asks. */
export interface DialogOptions {
  title: string;
  content: Child;
  /** Says what the button does. */
  action: string;
  isDangerous?: boolean;
  /** Says what to do when it must be possible to do nothing. @default "Cancel" */
  cancel?: string;
  /** Keeps the dialog open when the action is done. */
  staysOpen?: boolean;
  /**
   * Does it; what it throws is shown in the dialog. Returns a text to announce, or `KEEP_OPEN` when
   * nothing was done.
   */
  submit: (form: HTMLFormElement) => Promise<string | typeof KEEP_OPEN>;
}

/** Opens a modal dialog; it closes when its action is done, or cancelled. */
export function openDialog(options: DialogOptions): HTMLDialogElement {
  const { title, content, action, isDangerous = false, cancel = "Cancel" } = options;
  const titleId = newId();
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const submit = h("button", { class: isDangerous ? "danger solid" : "primary" }, action);
  const form = h(
    "form",
    { method: "dialog", submit: onSubmit },
    h("h2", { id: titleId }, title),
    h("div", { class: "dialog-content" }, content),
    problem,
    h(
      "div",
      { class: "dialog-actions" },
      h("button", { type: "button", click: () => dialog.close() }, cancel),
      submit,
    ),
  );
  const dialog: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": titleId, close: () => dialog.remove() },
    form,
  );

  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    problem.hidden = true;
    try {
      const done = await options.submit(form);
      if (done === KEEP_OPEN) return;
      if (options.staysOpen !== true) dialog.close();
      announce(done);
    } catch (error) {
      problem.textContent = describeProblem(error);
      problem.hidden = false;
    } finally {
      submit.disabled = false;
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
