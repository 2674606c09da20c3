import { createEventOperations } from "../../lib/durable/dead-letters";
import type { Storage } from "../../lib/durable/storage";
import { collect } from "../support/waiting";

/** A storage with a dead letter on each page, the first of which fails again before the third is read. */
function createOperations() {
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
  const storage = { deadLetters, retry: async (ids: string[]) => ids.length };
  const run = <Value>(operation: () => Promise<Value>) => operation();
  return createEventOperations(storage as unknown as Storage, "q", () => {}, run);
}

it("a dead letter that fails again meanwhile is once in a list, and retried once", async () => {
  const listed = await collect(createOperations().deadLetters());
  expect(listed.map(({ failedAt }) => Number(failedAt))).toEqual([1, 5]);
  expect(await createOperations().retryAll()).toBe(2);
});
