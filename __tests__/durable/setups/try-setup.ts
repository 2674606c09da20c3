import { PermanentError } from "express-push-verification";
import type { DurableQueue, QueueError } from "express-push-verification/durable";
import { CHALLENGE_SID, eventRequest } from "../../support/webhook-requests";
import { closeOpened, entityIdentity, receiveInto, untilStats } from "../../support/durable";
import { until } from "../../support/waiting";

/** What a queue does in a set-up; a time is undefined for what never happened. */
export interface Outcome {
  /** `"resolved"`, or the code of the error of `ready()`, or the name of the error of the call. */
  ready: string;
  readyMs: number;
  /** The status of the response to a webhook request. */
  stored?: number;
  /** From the request to the end of its handlers, in another process, in their second attempt. */
  handledMs?: number;
  /** From the request to the end of a wait for its outcome, in another process. */
  waitedMs?: number | undefined;
  /** The message of the error. */
  words: string;
}

/** Uses a set-up as an app does; `open` opens the queue as a process does. */
export async function trySetup(open: () => DurableQueue): Promise<Outcome> {
  const startMs = performance.now();
  let queue: DurableQueue;
  try {
    queue = open();
  } catch (error) {
    const { name, message } = error as Error;
    return { ready: name, readyMs: performance.now() - startMs, words: message };
  }
  const rejection = await queue.ready().then(
    () => undefined,
    (error: unknown) => error as QueueError,
  );
  const { code: ready = "resolved", message: words = "" } = rejection ?? {};
  const outcome = { ready, readyMs: performance.now() - startMs, words };
  try {
    if (rejection === undefined) return { ...outcome, ...(await useQueue(queue, open())) };
    // The receiver retries to store an event until the deadline.
    const { deliver } = await receiveInto(queue, { deadlineMs: 100 });
    return { ...outcome, stored: await deliver(eventRequest("factor.created")) };
  } finally {
    await closeOpened();
  }
}

/** Does all that a queue can do, with the queue of a second process. */
async function useQueue(first: DurableQueue, queue: DurableQueue) {
  const { deliver } = await receiveInto(first);
  const { push } = await receiveInto(queue);
  await queue.ready();
  let handledAtMs: number | undefined;
  push.onAny(({ uuid }, { attempt }) => {
    if (uuid === "dead") throw new PermanentError("no");
    if (attempt === 1) throw new Error("again");
    handledAtMs = performance.now();
  });
  queue.work(push.handlers, { onError() {} });
  const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 10_000 };
  const waiting = push.waitForChallenge(wait).then(
    () => performance.now(),
    () => undefined,
  );
  const sentAtMs = performance.now();
  const stored = await deliver(eventRequest("challenge.approved"));
  const waitedAtMs = await waiting;
  await until(() => handledAtMs !== undefined);
  await deliver(eventRequest("factor.created", { uuid: "dead" }));
  await untilStats(queue, { deadLetters: 1 });
  if (!(await queue.retry("dead"))) throw new Error("The dead letter was not retried.");
  await untilStats(queue, { deadLetters: 1 });
  if (!(await queue.discard("dead"))) throw new Error("The dead letter was not discarded.");
  const waitedMs = waitedAtMs === undefined ? undefined : waitedAtMs - sentAtMs;
  return { stored, handledMs: handledAtMs! - sentAtMs, waitedMs };
}
