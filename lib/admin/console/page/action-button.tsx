import { useState } from "preact/hooks";
import { announce } from "./announcer";
import { describeProblem } from "./api";

/** A button that does something at once, is disabled meanwhile, and shows a failure beside it. */
export function ActionButton(props: {
  label: string;
  class?: string | undefined;
  /** Id of what names the thing that the button is about. */
  about?: string | undefined;
  /** Does it; returns what to announce. */
  run: () => Promise<string | undefined | void>;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function start(): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setProblem("");
    try {
      const done = await props.run();
      if (typeof done === "string") announce(done);
    } catch (error) {
      setProblem(describeProblem(error));
    } finally {
      setBusy(false);
    }
  }
  // Not `disabled`: the button would lose the focus.
  return (
    <span class="action">
      <button
        type="button"
        class={props.class}
        aria-disabled={isBusy ? "true" : undefined}
        aria-describedby={props.about}
        onClick={() => void start()}
      >
        {props.label}
      </button>
      {problem !== "" && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
