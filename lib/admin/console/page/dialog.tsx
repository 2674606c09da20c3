import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button, useAction, type Run } from "./action";
import { createStore, useStore } from "./store";

const shown = createStore<VNode | undefined>(undefined);

/** Opens a dialog. */
export function openDialog(dialog: VNode): void {
  shown.set(dialog);
}

/** The dialog that is open. */
export function OpenDialog() {
  return useStore(shown) ?? null;
}

/** A modal dialog; it closes when its action is done, or cancelled. */
export function Dialog(props: {
  title: string;
  children: ComponentChildren;
  /** Says what the button does. */
  action: string;
  isDangerous?: boolean;
  /** Whether the action can be done with what was typed so far. */
  isReady?: boolean;
  cancel?: string;
  /** Keeps the dialog open when the action is done. */
  staysOpen?: boolean;
  /** Does it; why it failed is shown in the dialog. */
  submit: Run<FormData>;
}) {
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  const { isBusy, problem, start } = useAction(async (data: FormData) => {
    const said = await props.submit(data);
    if (props.staysOpen !== true) close();
    return said;
  });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={() => shown.set(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start(new FormData(event.currentTarget));
        }}
      >
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
        {problem}
        <div class="buttons">
          <Button run={close}>{props.cancel ?? "Cancel"}</Button>
          <button
            class={props.isDangerous === true ? "danger solid" : "primary"}
            disabled={isBusy || props.isReady === false}
          >
            {props.action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A labelled text field. */
export function TextField({
  label,
  hint,
  ...input
}: { label: string; hint?: string } & InputHTMLAttributes) {
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

/** Radio buttons under a legend; the first is chosen unless another is given. */
export function Choices(props: {
  legend: string;
  name: string;
  options: readonly (readonly [value: string, label: string, hint?: string])[];
  chosen?: string | null | undefined;
}) {
  const chosen = props.chosen ?? props.options[0]?.[0];
  return (
    <fieldset>
      <legend>{props.legend}</legend>
      {props.options.map(([value, label, hint]) => (
        <label class="choice" key={value}>
          <input type="radio" name={props.name} value={value} defaultChecked={value === chosen} />
          <span>
            {label}
            <small>{hint}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
