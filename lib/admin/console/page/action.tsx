import type { ButtonHTMLAttributes, ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { describeProblem, settings } from "./api";
import { createStore } from "./store";

const SHOWN_MS = 10_000;

const announced = createStore({ text: "", isShown: false });
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/** Announces a change to a screen reader; what an action has done is shown, too. */
export function announce(text: string, isShown = false): void {
  clearTimeout(hideTimer);
  announced.value = { text: "", isShown };
  // A text that is set in the same turn as it is emptied is not read again.
  requestAnimationFrame(() => (announced.value = { text, isShown }));
  if (isShown) hideTimer = setTimeout(() => (announced.value = { text, isShown: false }), SHOWN_MS);
}

/** The region that a screen reader watches. */
export function Announcer() {
  const { text, isShown } = announced.value;
  return (
    <div id="announcer" class={isShown && text !== "" ? "toast" : "unseen"} role="status">
      {text}
    </div>
  );
}

function keepFocus(): void {
  // The thing that had it may be gone.
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>("main h2")?.focus({ preventScroll: true });
}

/** The action of a button or a form; it may return an announcement. */
export type Run<Input = void> = (input: Input) => unknown;

/** Runs an action once at a time; returns whether it runs, and its failure. */
export function useAction<Input = void>(run: Run<Input>) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<VNode>();
  async function start(input: Input): Promise<void> {
    if (isBusy) return;
    setProblem(undefined);
    try {
      const running = run(input);
      setBusy(running instanceof Promise);
      const said: unknown = await running;
      if (typeof said === "string") announce(said, true);
    } catch (error) {
      setProblem(
        <span class="problem" role="alert">
          {describeProblem(error)}
        </span>,
      );
    }
    setBusy(false);
    requestAnimationFrame(keepFocus);
  }
  return { isBusy, problem, start };
}

type ButtonProps = Omit<ButtonHTMLAttributes, "onClick"> & { label: ComponentChildren; run: Run };

/** A button; a failure of its action is shown beside it. */
export function Button({ label, run, ...button }: ButtonProps) {
  const { isBusy, problem, start } = useAction(run);
  // Not `disabled`: the button would lose the focus.
  const press = () => void start();
  return (
    <>
      <button type="button" {...button} aria-disabled={isBusy || undefined} onClick={press}>
        {label}
      </button>
      {problem}
    </>
  );
}

/** A button that writes; there is none when the console only reads. */
export const WriteButton = (button: ButtonProps) =>
  settings.readOnly ? null : <Button {...button} />;
