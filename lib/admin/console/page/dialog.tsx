import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, useAction, type Run } from "./action";
import type { Options } from "./blocks";
import { createStore } from "./store";

/** The dialog that is open. */
export const openedDialog = createStore<VNode | null>(null);

/** Opens a dialog. */
export function openDialog(dialog: VNode): void {
  openedDialog.value = dialog;
}

/** A modal dialog; it closes when its action is done, or cancelled. */
export function Dialog(props: {
  /** The label of the button and a question mark, if it has no other. */
  title?: string;
  children: ComponentChildren;
  /** The label of the button; undefined when there is only something to read. */
  action?: string;
  isDangerous?: boolean;
  /** The text to type before the action can be done. */
  confirmation?: string;
  /** Keeps the dialog open when the action is done. */
  staysOpen?: boolean;
  /** The action; its failure is shown in the dialog. */
  submit?: Run<FormData>;
}) {
  const { children, action, confirmation = "", staysOpen = false } = props;
  const title = props.title ?? `${action}?`;
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const close = () => dialog.current?.close();
  const { isBusy, problem, start } = useAction(async (data: FormData) => {
    const said = await props.submit?.(data);
    if (!staysOpen) close();
    return said;
  });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={() => (openedDialog.value = null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start(new FormData(event.currentTarget));
        }}
      >
        <h2>{title}</h2>
        {children}
        {confirmation !== "" && (
          <TextField
            label={`Type "${confirmation}" to confirm`}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {problem}
        <div class="buttons">
          <Button label={action === undefined || staysOpen ? "Close" : "Cancel"} run={close} />
          {action !== undefined && (
            <button
              class={props.isDangerous === true ? "danger solid" : "primary"}
              disabled={isBusy || typed !== confirmation}
            >
              {action}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/** A labelled text field. */
export function TextField(props: { label: string; hint?: string } & InputHTMLAttributes) {
  const { label, hint, ...input } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        {...input}
      />
      <small id={`${id}-hint`}>{hint}</small>
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
