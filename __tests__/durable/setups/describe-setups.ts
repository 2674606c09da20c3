import type { DurableQueue } from "express-push-verification/durable";
import { trySetup, type Outcome } from "./try-setup";

/** The code of the error of a set-up, and words of its message. */
export type Rejection = [code: string, words: RegExp];

type Started = (() => DurableQueue) | Outcome;

/** A set-up of a store as people have it, and what a queue must do in it. */
export type Setup = readonly [
  title: string,
  /** Sets the store up; returns how a process opens its queue, or what it did. */
  start: () => Started | Promise<Started>,
  /** Undefined where all must work. */
  rejects?: Rejection | undefined,
  /** Takes back what other set-ups would notice. */
  end?: () => unknown,
];

/** `npm run setups` prints the tables. */
const isPrinted = process.env.PUSH_TEST_TABLE !== undefined;

/** Tries each set-up of an engine, and prints a table of them. */
export function describeSetups(engine: string, setups: readonly Setup[]): void {
  const width = Math.max(...setups.map(([title]) => title.length));
  const print = (title: string, cells: string[], words: string) => {
    if (!isPrinted) return;
    const row = cells.map((cell, index) => cell.padEnd([20, 7, 6, 9, 8][index] ?? 0)).join(" ");
    process.stdout.write(`${title.padEnd(width)} ${row} ${words}\n`);
  };
  const duration = (ms: number | undefined) => (ms === undefined ? "-" : `${Math.round(ms)} ms`);

  describe(`a queue in ${engine}`, () => {
    const head = ["ready()", "after", "stored", "handled", "waited"];
    beforeAll(() => print(`\n${engine}`, head, "words"));

    for (const [title, start, rejects, end] of setups) {
      it(title, async () => {
        try {
          const started = await start();
          const outcome = typeof started === "function" ? await trySetup(started) : started;
          const { ready, readyMs, stored, handledMs, waitedMs, words } = outcome;
          const after = `${(readyMs / 1_000).toFixed(1)} s`;
          const times = [handledMs, waitedMs].map(duration);
          const [firstWords = ""] = words.split("\n");
          print(title, [ready, after, String(stored ?? "-"), ...times], firstWords);
          const [code = "resolved", message = ""] = rejects ?? [];
          expect({ ready, words }).toEqual({ ready: code, words: expect.stringMatching(message) });
          if (rejects === undefined) expect(stored).toBe(200);
          else expect(stored).toBe(code === "TypeError" ? undefined : 503);
        } finally {
          await end?.();
        }
      });
    }
  });
}
