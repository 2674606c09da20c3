import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, useAction } from "./action";
import { SignedOut, type Options } from "./blocks";
import { createStore } from "./store";

/** The dialog that is open. */
export const openedDialog = createStore<VNode | null>(null);

/** Opens a dialog. */
export const openDialog = (dialog: VNode): void => void (openedDialog.value = dialog);

/** A modal dialog; it closes when its action is done, or cancelled. */
export function Dialog(props: {
  /** The label of the button and a question mark, if it has no other. */
  title?: string;
  children: ComponentChildren;
  /** The label of the button. */
  action: string;
  isDangerous?: boolean;
  /** Keeps the dialog open when the action is done. */
  staysOpen?: boolean;
  /** The progress of an action of several steps: to close the dialog stops it. */
  progress?: { done: number; count: number };
  /** The action; its failure is shown in the dialog. */
  submit: (data: FormData, stop: AbortSignal) => unknown;
}) {
  const { action, title = `${action}?`, children, isDangerous, staysOpen, progress } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  const [stop] = useState(() => new AbortController());
  const { isBusy, problem, start } = useAction(async (data: FormData) => {
    const said = await props.submit(data, stop.signal);
    if (!staysOpen) close();
    return said;
  });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  function finish(): void {
    stop.abort();
    openedDialog.value = null;
  }
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void start(new FormData(event.currentTarget as HTMLFormElement));
  }
  return (
    <dialog ref={dialog} aria-label={title} onClose={finish}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        <SignedOut />
        {children}
        {isBusy && progress && (
          <progress aria-label="Events" max={progress.count} value={progress.done} />
        )}
        {problem}
        <div class="buttons">
          <Button
            label={isBusy && progress ? "Stop" : staysOpen ? "Close" : "Cancel"}
            run={close}
          />
          <button class={isDangerous ? "danger solid" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A labelled text field. */
export function TextField(props: { label: string; hint?: string } & InputHTMLAttributes) {
  const { label, hint, ...input } = props;
  const hintId = `hint-${label}`;
  return (
    <div>
      <label class="field">
        {label}
        <input autocomplete="off" spellcheck={false} aria-describedby={hintId} {...input} />
      </label>
      <small id={hintId}>{hint}</small>
    </div>
  );
}

/** Radio buttons under a legend, or boxes to tick. */
export function Choices(props: {
  legend: string;
  name: string;
  type?: "radio" | "checkbox";
  options: Options;
  /** The values that are chosen at first. */
  chosen: readonly string[];
}) {
  const { legend, name, type = "radio", options, chosen } = props;
  return (
    <fieldset>
      <legend>{legend}</legend>
      {Object.entries(options).map(([value, text]) => (
        <label class="choice" key={value}>
          <input type={type} name={name} value={value} defaultChecked={chosen.includes(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
