import { describeFailure } from "./api";
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
      problem.textContent = describeFailure(error);
      problem.hidden = false;
    } finally {
      submit.disabled = false;
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A labelled field of a form. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  const hintId = newId();
  control.id ||= newId();
  if (hint !== undefined) control.setAttribute("aria-describedby", hintId);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint !== undefined && h("p", { class: "hint", id: hintId }, hint),
  );
}

/** Radio buttons under a legend; the first is chosen unless another is given. */
export function choices(
  legend: string,
  name: string,
  options: readonly (readonly [value: string, label: string, hint?: string])[],
  chosen = options[0]?.[0],
): HTMLElement {
  return h(
    "fieldset",
    {},
    h("legend", {}, legend),
    options.map(([value, label, hint]) =>
      h(
        "label",
        { class: "choice" },
        h("input", { type: "radio", name, value, checked: value === chosen }),
        h("span", {}, label, hint !== undefined && h("small", {}, hint)),
      ),
    ),
  );
}

/** A button that does something at once, is disabled meanwhile, and shows a failure beside it. */
export function actionButton(
  label: string,
  run: () => Promise<string | undefined>,
  { className = "", focus = "" }: { className?: string; focus?: string } = {},
): HTMLElement {
  const problem = h("span", { class: "problem", role: "alert", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: className,
      ...(focus !== "" && { "data-focus": focus }),
      click: () => void start(),
    },
    label,
  );

  async function start(): Promise<void> {
    if (button.getAttribute("aria-disabled") === "true") return;
    // Not `disabled`: the button would lose the focus.
    button.setAttribute("aria-disabled", "true");
    problem.hidden = true;
    try {
      const done = await run();
      if (done !== undefined) announce(done);
    } catch (error) {
      problem.textContent = describeFailure(error);
      problem.hidden = false;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }

  return h("span", { class: "action" }, button, problem);
}

/** A button that copies a text, and says so. */
export function copyButton(text: string, what: string): HTMLElement {
  const label = document.createTextNode("Copy");
  const button = h("button", { type: "button", click: () => void copy() });
  button.append(label, h("span", { class: "unseen" }, ` ${what}`));

  async function copy(): Promise<void> {
    const isCopied = await writeClipboard(text, button);
    label.data = isCopied ? "Copied" : "Select it and copy";
    announce(isCopied ? `Copied ${what}.` : "Copying failed: select the text and copy it.");
    setTimeout(() => (label.data = "Copy"), 3_000);
  }

  return button;
}

async function writeClipboard(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard without HTTPS: an old command copies the selection.
    const area = h("textarea", { class: "unseen", readonly: true }, text);
    button.after(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    button.focus();
    return isCopied;
  }
}
