import { parseJson } from "../form/json";
import { createDeadLetter, type DeadLetterOptions } from "./dead-letter";
import type { LetterOperations } from "./durable-queue";
import { chooseLetters, createAmbiguityError } from "./letter-choice";
import type { QueueStore, StoredDeadLetter } from "./storage";
import { hashKey } from "./stored-event";

/**
 * Creates the operations of a queue on its dead letters.
 *
 * @param run runs an operation, and again while the store fails.
 */
export function createLetterOperations(
  store: QueueStore,
  name: string,
  run: <Value>(operation: () => Promise<Value>) => Promise<Value>,
): LetterOperations {
  /** Lists pages. What fails from now on is left out: a letter that is retried is listed once. */
  async function* listPages(): AsyncGenerator<readonly StoredDeadLetter[]> {
    let last: StoredDeadLetter | undefined;
    let untilMs: number | undefined;
    for (;;) {
      const after = last;
      const page = await run(() => store.deadLetters(after));
      last = page.at(-1);
      if (last === undefined) return;
      untilMs ??= last.listedAtMs;
      const endMs = untilMs;
      yield page.filter(({ failedAtMs }) => failedAtMs <= endMs);
      if (last.failedAtMs > endMs) return;
    }
  }

  async function choose(
    method: "retry" | "discard",
    uuid: string,
    options: DeadLetterOptions = {},
  ): Promise<string[]> {
    const found = await run(() => store.findDeadLetters(hashKey(name, uuid)));
    const chosen = chooseLetters(found, ({ body }) => parseJson(body), options);
    if (chosen === undefined) throw createAmbiguityError(method);
    return chosen.map(({ id }) => id);
  }

  async function change(
    method: "retry" | "discard",
    uuid: string,
    options?: DeadLetterOptions,
  ): Promise<boolean> {
    const ids = await choose(method, uuid, options);
    return ids.length > 0 && (await run(() => store[method](ids))) > 0;
  }

  return {
    async *deadLetters() {
      for await (const page of listPages()) {
        for (const { body, error, started, failedAtMs } of page) {
          const failure = { error, attempts: started, failedAt: new Date(failedAtMs) };
          yield createDeadLetter(parseJson(body), failure);
        }
      }
    },
    retry: (uuid, options) => change("retry", uuid, options),
    async retryAll() {
      let count = 0;
      for await (const page of listPages()) {
        const ids = page.map(({ id }) => id);
        if (ids.length > 0) count += await run(() => store.retry(ids));
      }
      return count;
    },
    discard: (uuid, options) => change("discard", uuid, options),
  };
}
