import { getEventListeners } from "node:events";
import { nextTurn } from "./waiting";

export const REASON = new Error("changed my mind");
/** How many turns of the event loop an aborted function may take to end. */
export const TURNS = 500;

/** Aborts a function now; expects that it ends with the reason, and leaves no listener. */
export async function expectAborted(
  running: Promise<unknown>,
  stop: AbortController,
): Promise<void> {
  const ends: unknown[] = [];
  void running.then(
    () => ends.push("resolved"),
    (reason: unknown) => ends.push(reason),
  );
  stop.abort(REASON);
  for (let turns = 0; turns < TURNS && ends.length === 0; turns++) await nextTurn();
  expect(ends).toEqual([REASON]);
  expect(ends[0]).toBe(REASON);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
}
