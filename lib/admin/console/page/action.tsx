import type { ButtonHTMLAttributes, ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { describeProblem, settings } from "./api";
import { createStore } from "./store";

const SHOWN_MS = 10_000;

const announced = createStore("");
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/** Says what an action has done, also to a screen reader. */
export function announce(text: string): void {
  clearTimeout(hideTimer);
  announced.value = "";
  // A text that is set in the same turn as it is emptied is not read again.
  requestAnimationFrame(() => (announced.value = text));
  hideTimer = setTimeout(() => (announced.value = ""), SHOWN_MS);
}

/** The region that a screen reader watches. */
export const Announcer = () => (
  <div id="announcer" class={announced.value === "" ? "unseen" : "toast notice info"} role="status">
    {announced.value}
  </div>
);

function keepFocus(): void {
  // The thing that had it may be gone.
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>("main h2")?.focus({ preventScroll: true });
}

/** Runs an action once at a time; returns whether it runs, and its failure. It may return an announcement. */
export function useAction<Input = void>(run: (input: Input) => unknown) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<VNode>();
  async function start(input: Input): Promise<void> {
    if (isBusy) return;
    setProblem(undefined);
    try {
      const running = run(input);
      setBusy(running instanceof Promise);
      const said: unknown = await running;
      if (typeof said === "string") announce(said);
    } catch (error) {
      setProblem(
        <span class="pill bad" role="alert">
          {describeProblem(error)}
        </span>,
      );
    }
    setBusy(false);
    requestAnimationFrame(keepFocus);
  }
  return { isBusy, problem, start };
}

interface ButtonProps extends Omit<ButtonHTMLAttributes, "label"> {
  label: ComponentChildren;
  run: () => unknown;
}

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
