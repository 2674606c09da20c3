/** Set-ups of a store as people have them; `npm run setups` prints a table of them. */
import assert from "node:assert";
import { PermanentError } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { closeOpened, entityIdentity, receiveInto, untilStats } from "../../support/durable";
import { createGate } from "../../support/waiting";
import { CHALLENGE_SID, eventRequest } from "../../support/webhook-requests";

export interface Outcome {
  /** `"resolved"`, or the code of the error of `ready()`, or the name of the error of the call. */
  ready: string;
  words: string;
  stored?: number;
  /** From the request to the end of its handlers, in their second attempt, in another process. */
  handledMs?: number;
  /** From the request to the outcome, in another process. */
  waitedMs?: number;
}

export type Rejection = [code: string, words: RegExp];

type Started = (() => DurableQueue) | Outcome;

export type Setup = readonly [
  title: string,
  /** Sets the store up; returns how a process opens its queue, or what it did. */
  start: () => Started | Promise<Started>,
  /** Undefined where all must work. */
  rejects?: Rejection | undefined,
  /** Takes back what other set-ups would notice. */
  end?: () => unknown,
];

/** Uses a set-up as an app does; `open` opens the queue as a process does. */
export async function trySetup(open: () => DurableQueue): Promise<Outcome> {
  let queue: DurableQueue | undefined;
  let error: (Error & { code?: string }) | undefined;
  try {
    queue = open();
    await queue.ready();
  } catch (thrown) {
    error = thrown as Error;
  }
  const { name = "resolved", code: ready = name, message: words = "" } = error ?? {};
  const outcome = { ready, words };
  if (queue === undefined) return outcome;
  try {
    if (error === undefined) return { ...outcome, ...(await useQueue(queue, open())) };
    // The receiver retries to store an event until the deadline.
    const { deliver } = await receiveInto(queue, { deadlineMs: 100 });
    return { ...outcome, stored: await deliver(eventRequest("factor.created")) };
  } finally {
    await closeOpened();
  }
}

async function useQueue(first: DurableQueue, queue: DurableQueue) {
  const { deliver } = await receiveInto(first);
  const { push } = await receiveInto(queue);
  await queue.ready();
  const handled = createGate();
  push.onAny(({ uuid }, { attempt }) => {
    if (uuid === "dead") throw new PermanentError("no");
    if (attempt === 1) throw new Error("again");
    handled.open();
  });
  queue.work(push.handlers, { onError() {} });
  const challenge = { challengeSid: CHALLENGE_SID, entityIdentity };
  const waiting = push.waitForChallenge({ ...challenge, timeoutMs: 60_000 });
  const sentAtMs = performance.now();
  const stored = await deliver(eventRequest("challenge.approved"));
  const elapsedMs = () => performance.now() - sentAtMs;
  const ended = [handled.opened.then(elapsedMs), waiting.then(elapsedMs)];
  const [handledMs = Number.NaN, waitedMs = Number.NaN] = await Promise.all(ended);
  await deliver(eventRequest("factor.created", { uuid: "dead" }));
  for (const method of ["retry", "discard"] as const) {
    await untilStats(queue, { deadLetters: 1 });
    assert(await queue[method]("dead"), `${method} found no dead letter`);
  }
  return { stored, handledMs, waitedMs };
}

function printRow(...cells: unknown[]): void {
  if (process.env.PUSH_TEST_TABLE === undefined) return;
  const row = cells.map((cell, index) => String(cell).padEnd([64, 20, 9, 9, 9][index] ?? 0));
  process.stdout.write(`${row.join(" ")}\n`);
}

export function printHead(title: string, first = "ready()"): void {
  printRow(`\n${title}`, first, "stored", "handled", "waited", "words");
}

export function printOutcome(title: string, outcome: Outcome): void {
  const { ready, stored = "-", handledMs, waitedMs, words } = outcome;
  const times = [handledMs, waitedMs].map((ms) =>
    ms === undefined ? "-" : `${Math.round(ms)} ms`,
  );
  printRow(title, ready, stored, ...times, words.split("\n")[0]);
}

export function describeSetups(engine: string, setups: readonly Setup[], test = it): void {
  describe(`a queue in ${engine}`, () => {
    beforeAll(() => printHead(engine));

    for (const [title, start, rejects, end] of setups) {
      test(title, async () => {
        try {
          const started = await start();
          const outcome = typeof started === "function" ? await trySetup(started) : started;
          printOutcome(title, outcome);
          const { ready, stored = "-", words } = outcome;
          const [code = "resolved", message = ""] = rejects ?? [];
          expect({ ready, words }).toEqual({ ready: code, words: expect.stringMatching(message) });
          const status = rejects === undefined ? 200 : 503;
          expect(stored).toBe(code === "TypeError" ? "-" : status);
        } finally {
          await end?.();
        }
      });
    }
  });
}
