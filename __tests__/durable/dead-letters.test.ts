import { createEventOperations } from "../../lib/durable/dead-letters";
import type { NoteStep } from "../../lib/durable/steps";
import type { Storage } from "../../lib/durable/storage";
import { collect } from "../support/waiting";

/** A storage with a dead letter on each page, the first of which fails again before the third is read. */
function createOperations(noteStep: NoteStep = () => {}) {
  const letters = [
    { id: "a", atMs: 1, listedAtMs: 5 },
    { id: "b", atMs: 5, listedAtMs: 6 },
    { id: "a", atMs: 7, listedAtMs: 8 },
  ].map((letter) =>
    Object.assign(letter, { body: "{}", errors: "[]", attempts: 1, state: "dead" as const }),
  );
  const deadLetters: Storage["deadLetters"] = async (_choice, after) => {
    const index = letters.findIndex((letter) => letter === after) + 1;
    return letters.slice(index, index + 1);
  };
  const change = jest.fn(async (ids: string[]) => ids.length);
  const find = async () => letters.slice(0, 1);
  const storage = { deadLetters, find, retry: change, discard: change };
  const run = <Value>(operation: () => Promise<Value>) => operation();
  const operations = createEventOperations(storage as unknown as Storage, "q", noteStep, run);
  return { ...operations, change };
}

it("a dead letter that fails again meanwhile is listed and retried once", async () => {
  const listed = await collect(createOperations().deadLetters());
  expect(listed.map(({ failedAt }) => Number(failedAt))).toEqual([1, 5]);
  expect(await createOperations().retryAll()).toBe(2);
});

it("each change of a dead letter is noted with its author", async () => {
  const noteStep = jest.fn<void, Parameters<NoteStep>>();
  const operations = createOperations(noteStep);
  const stepsOf = async (change: Promise<unknown>) => {
    await change;
    return noteStep.mock.calls.splice(0).map(([, { what, by, atMs }]) => [what, by, typeof atMs]);
  };
  const by = "eve";
  expect(await stepsOf(operations.retry("u", { by }))).toEqual([["retried", by, "number"]]);
  expect(await stepsOf(operations.discard("u", { by }))).toEqual([["discarded", by, "number"]]);
  expect(await stepsOf(operations.retryAll())).toEqual(
    Array(2).fill(["retried", undefined, "number"]),
  );
  operations.change.mockResolvedValueOnce(0);
  expect(await stepsOf(operations.discard("u", { by }))).toEqual([]);
});
