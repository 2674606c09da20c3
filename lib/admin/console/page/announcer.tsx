import { createStore, useStore } from "./store";

const said = createStore("");

/** Tells a screen reader what has happened. */
export function announce(text: string): void {
  said.set("");
  // A text that is set in the same turn as it is emptied is not read again.
  requestAnimationFrame(() => said.set(text));
}

/** The region that a screen reader watches. */
export function Announcer() {
  return (
    <div id="announcer" class="unseen" role="status" aria-live="polite">
      {useStore(said)}
    </div>
  );
}
