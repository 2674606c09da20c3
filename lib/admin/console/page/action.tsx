import type { ButtonHTMLAttributes, VNode } from "preact";
import { useState } from "preact/hooks";
import { describeProblem, settings } from "./api";
import { createStore, useStore } from "./store";

const SHOWN_MS = 10_000;

const announced = createStore({ text: "", isShown: false });
let hideTimer: number | undefined;

/** Announces a change to a screen reader; what an action has done is shown, too. */
export function announce(text: string, isShown = false): void {
  clearTimeout(hideTimer);
  announced.set({ text: "", isShown });
  // A text that is set in the same turn as it is emptied is not read again.
  requestAnimationFrame(() => announced.set({ text, isShown }));
  if (isShown) hideTimer = setTimeout(() => announced.set({ text, isShown: false }), SHOWN_MS);
}

/** The region that a screen reader watches. */
export function Announcer() {
  const { text, isShown } = useStore(announced);
  return (
    <div id="announcer" class={isShown && text !== "" ? "toast" : "unseen"} role="status">
      {text}
    </div>
  );
}

/** Leads the focus back to the page when the thing that had it is gone. */
function keepFocus(): void {
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

/** A button; a failure of its action is shown beside it. */
export function Button({
  run,
  ...button
}: Omit<ButtonHTMLAttributes, "onClick" | "type"> & { run: Run }) {
  const { isBusy, problem, start } = useAction(run);
  // Not `disabled`: the button would lose the focus.
  return (
    <>
      <button
        type="button"
        {...button}
        aria-disabled={isBusy ? "true" : undefined}
        onClick={() => void start()}
      />
      {problem}
    </>
  );
}

/** A button as data: its label, its action, and its look. */
export type Action = readonly [label: string, run: Run, look?: string];

/** Buttons that write, without those that are undefined; none when the console only reads. */
export function Writes(props: { actions: readonly (Action | undefined)[]; about?: string }) {
  if (settings.readOnly) return null;
  return props.actions.map(
    (action) =>
      action && (
        <Button class={action[2]} aria-describedby={props.about} run={action[1]}>
          {action[0]}
        </Button>
      ),
  );
}
