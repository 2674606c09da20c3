import type { Journal, StepEntry } from "../core/door";
import { readEventNames } from "./stored-event";

/** What happened to an event, without its names: now, unless it has a time. */
export type Step = Pick<StepEntry, "what" | "attempt" | "durationMs" | "error" | "by"> &
  Partial<Pick<StepEntry, "atMs">>;

/** Notes in the journal what happened to a stored event. */
export type NoteStep = (stored: unknown, step: Step) => void;

/** Creates the notes of a queue; without a journal, it keeps none. */
export function createNotes(journal: Journal | undefined): NoteStep {
  return (stored, step) => {
    if (journal === undefined) return;
    const { uuid, authenticatedAccount, accountSid, entityIdentity } = readEventNames(stored);
    const names = { uuid, accountSid, identity: entityIdentity, share: authenticatedAccount };
    journal.append({ kind: "step", atMs: Date.now(), ...names, ...step });
    if (step.attempt !== undefined) {
      journal.count(step.what === "handled" ? "attempt:handled" : "attempt:failed");
    }
  };
}
