import { createDeadLetter, type DeadLetterOptions } from "../dead-letter";
import type { LetterOperations } from "../durable-queue";
import { parseJson } from "../../form/json";
import { createAmbiguityError } from "../letter-choice";
import type { Argument, LetterRow, OperationName, Result } from "./protocol";

/** Runs an operation in the thread. */
type Run = <Name extends OperationName>(
  name: Name,
  argument: Argument<Name>,
) => Promise<Result<Name>>;

/** Creates the view of the dead letters of a file. */
export function createFileLetters(run: Run): LetterOperations {
  async function change(
    method: "retry" | "discard",
    uuid: string,
    { accountSid, receiver }: DeadLetterOptions = {},
  ): Promise<boolean> {
    const count = await run(method, { uuid, accountSid, receiver });
    if (count !== "ambiguous") return count > 0;
    throw createAmbiguityError(method);
  }

  return {
    async *deadLetters() {
      // What fails from now on is left out: a letter that is retried meanwhile is listed once.
      const untilMs = Date.now();
      let last: LetterRow | undefined;
      for (;;) {
        const after = { afterMs: last?.failedAt ?? 0, afterId: last?.id ?? 0 };
        const rows = await run("letters", { ...after, untilMs });
        if (rows.length === 0) return;
        for (const { body, error, started, failedAt } of rows) {
          const failure = { error, attempts: started, failedAt: new Date(failedAt) };
          yield createDeadLetter(parseJson(body), failure);
        }
        last = rows.at(-1);
      }
    },
    retry: (uuid, options) => change("retry", uuid, options),
    async retryAll() {
      const untilMs = Date.now();
      let total = 0;
      for (;;) {
        const count = await run("retrySome", untilMs);
        if (count === 0) return total;
        total += count;
      }
    },
    discard: (uuid, options) => change("discard", uuid, options),
  };
}
