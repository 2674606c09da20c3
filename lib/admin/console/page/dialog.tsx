import type { ComponentChildren, TargetedEvent, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { announce } from "./announcer";
import { describeProblem } from "./api";
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
  /** Does it, and returns what to announce; what it throws is shown in the dialog. */
  submit: (data: FormData) => Promise<string>;
}) {
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useLayoutEffect(() => dialog.current?.showModal(), []);

  async function onSubmit(event: TargetedEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem("");
    try {
      const done = await props.submit(new FormData(event.currentTarget));
      if (props.staysOpen !== true) dialog.current?.close();
      announce(done);
    } catch (error) {
      setProblem(describeProblem(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={() => shown.set(undefined)}>
      <form method="dialog" onSubmit={(event) => void onSubmit(event)}>
        <h2 id={titleId}>{props.title}</h2>
        {props.children}
        {problem !== "" && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {props.cancel ?? "Cancel"}
          </button>
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
}: { label: string; hint?: string } & preact.InputHTMLAttributes) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint && `${id}-hint`}
        {...input}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
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
            {hint !== undefined && <small>{hint}</small>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
