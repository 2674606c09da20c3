import type { DeadLetter, EventOperations, PushEvent, UnknownPushEvent } from "../../core/door";
import type { DeadLetterChoice, DeadLetterName, DeadLetterRow, QueueView } from "./console-view";
import { cutText } from "../../kit/text";
import type { Audited } from "../http/audit";
import { RouterError } from "../http/router-error";
import { maskText } from "./mask";
import { viewEvent } from "./request-row";

/** A queue that the console shows: every queue of express-push-verification/durable is one. */
export interface ConsoleQueue extends Pick<
  EventOperations,
  "retry" | "discard" | "find" | "countUserData" | "eraseUserData"
> {
  /** Counts the events of the queue. */
  stats(): Promise<Omit<QueueView, "atMs" | "groups" | "isCut">>;
  /** Lists the dead letters, the oldest failure first. */
  deadLetters(): AsyncIterable<DeadLetter>;
}

function fail(cause: unknown): never {
  const message = "The store of the queue does not respond. The reason is in the log of the app.";
  throw new RouterError(503, "STORE_UNAVAILABLE", message, undefined, { cause });
}

/** Makes each failure of a queue one that tells whose it is. */
export function nameFailures(queue: ConsoleQueue): ConsoleQueue {
  return {
    stats: () => queue.stats().catch(fail),
    find: (...event) => queue.find(...event).catch(fail),
    retry: (...event) => queue.retry(...event).catch(fail),
    discard: (...event) => queue.discard(...event).catch(fail),
    countUserData: (user) => queue.countUserData(user).catch(fail),
    eraseUserData: (user) => queue.eraseUserData(user).catch(fail),
    async *deadLetters() {
      try {
        yield* queue.deadLetters();
      } catch (cause) {
        fail(cause);
      }
    },
  };
}

const MAX_LISTED = 1_000;
const MAX_PER_GROUP = 20;
const MAX_FOUND = 20;
const MAX_GROUPS = 50;

/** Reads the state of a queue, its dead letters grouped by error, the largest group first. */
export async function readQueue(queue: ConsoleQueue, reveals: boolean): Promise<QueueView> {
  const atMs = Date.now();
  const stats = await queue.stats();
  const groups = new Map<string, { error: string; count: number; deadLetters: DeadLetterRow[] }>();
  let listed = 0;
  for await (const deadLetter of queue.deadLetters()) {
    if (++listed > MAX_LISTED) break;
    const error = errorOf(deadLetter);
    const group = groups.get(error) ?? { error, count: 0, deadLetters: [] };
    groups.set(error, group);
    group.count++;
    // The oldest come first, and the newest are shown.
    group.deadLetters.unshift(toRow(deadLetter, reveals));
    if (group.deadLetters.length > MAX_PER_GROUP) group.deadLetters.pop();
  }
  return {
    ...stats,
    atMs,
    groups: [...groups.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_GROUPS),
    isCut: listed > MAX_LISTED || groups.size > MAX_GROUPS,
  };
}

/** Lists the last dead letters that are accepted, of those that a console reads. */
export async function listDeadLetters(
  queue: ConsoleQueue,
  reveals: boolean,
  accepts: (deadLetter: DeadLetter) => boolean,
): Promise<DeadLetterRow[]> {
  const found: DeadLetterRow[] = [];
  let listed = 0;
  for await (const deadLetter of queue.deadLetters()) {
    if (++listed > MAX_LISTED) break;
    if (accepts(deadLetter)) found.push(toRow(deadLetter, reveals));
    if (found.length > MAX_FOUND) found.shift();
  }
  return found;
}

/** Retries or discards dead letters; `audited` has their number, also when the rest failed. */
export async function changeDeadLetters(
  queue: ConsoleQueue,
  action: "retry" | "discard",
  choice: DeadLetterChoice,
  audited: Audited,
): Promise<void> {
  audited.count = 0;
  async function change({ uuid, ...scope }: DeadLetterName): Promise<void> {
    if (await queue[action](uuid, scope)) audited.count = (audited.count ?? 0) + 1;
  }
  if ("deadLetters" in choice) {
    const [only, ...others] = choice.deadLetters;
    if (only !== undefined && others.length === 0) audited.uuid = only.uuid;
    for (const one of choice.deadLetters) await change(one);
    return;
  }
  let left = choice.count;
  for await (const deadLetter of queue.deadLetters()) {
    // The oldest failure comes first, so these are the ones that were counted.
    if (deadLetter.failedAt.getTime() > choice.untilMs) return;
    const error = errorOf(deadLetter);
    if ((choice.error ?? error) !== error) continue;
    if (choice.error !== undefined) audited.error = error;
    const { uuid, accountSid, receiver } = deadLetter;
    await change({ uuid, accountSid, receiver });
    if (--left === 0) return;
  }
}

/** Returns the part of an error that the errors of other events have too. */
function errorOf({ error, event }: DeadLetter): string {
  return maskText(error, event);
}

function toRow(deadLetter: DeadLetter, reveals: boolean): DeadLetterRow {
  const { uuid, accountSid, receiver, event, error, attempts, failedAt } = deadLetter;
  return {
    uuid,
    accountSid,
    receiver,
    ...viewEvent(event, reveals),
    revealed: reveals ? listShownTexts(event) : [],
    error: reveals ? maskText(error, event, true) : undefined,
    attempts,
    failedAtMs: failedAt.getTime(),
  };
}

const REVEALED = new Set([
  "factor_friendly_name",
  "factor_metadata",
  "challenge_details",
  "challenge_metadata",
]);

function listShownTexts(event: PushEvent | UnknownPushEvent | undefined): [string, string][] {
  const params = event?.params ?? [];
  return params.flatMap(([name, value]) => (REVEALED.has(name) ? [[name, cutText(value)]] : []));
}
