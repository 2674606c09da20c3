import { PermanentError } from "express-push-verification";
import type { DurableQueue, QueueError } from "express-push-verification/durable";
import { CHALLENGE_SID, eventRequest } from "../../support/webhook-requests";
import { entityIdentity, receiveInto } from "../../support/durable";
import { stopServers } from "../../support/servers";
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
  // The receiver retries to store an event until the deadline.
  const receiver = await receiveInto(queue, rejection && { deadlineMs: 100 });
  try {
    const use = () => useQueue(receiver.deliver, open());
    if (rejection === undefined) return { ...outcome, ...(await use()) };
    return { ...outcome, stored: await receiver.deliver(eventRequest("factor.created")) };
  } finally {
    await receiver.close(0);
    await stopServers();
  }
}

/** Does all that a queue can do, with the queue of a second process. */
async function useQueue(
  deliver: (request: ReturnType<typeof eventRequest>) => Promise<number>,
  queue: DurableQueue,
) {
  const { push, close } = await receiveInto(queue);
  try {
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
    const isDead = async () => (await queue.stats()).deadLetters === 1;
    await until(isDead);
    if (!(await queue.retry("dead"))) throw new Error("The dead letter was not retried.");
    await until(isDead);
    if (!(await queue.discard("dead"))) throw new Error("The dead letter was not discarded.");
    const waitedMs = waitedAtMs === undefined ? undefined : waitedAtMs - sentAtMs;
    return { stored, handledMs: handledAtMs! - sentAtMs, waitedMs };
  } finally {
    await close(0);
  }
}
