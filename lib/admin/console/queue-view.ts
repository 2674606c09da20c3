import type { PushEvent, UnknownPushEvent } from "../../event/event";
import type {
  DeadLetterChoice,
  DeadLetterGroup,
  DeadLetterName,
  DeadLetterRow,
  QueueView,
} from "./console-view";
import { cutText } from "../../form/text";
import type { Audited } from "../http/audit";
import { maskText } from "./mask";
import { viewEvent } from "./request-row";

/** A dead letter, as the queues of express-push-verification/durable list them. */
interface ListedDeadLetter {
  uuid: string;
  accountSid: string;
  receiver: string | undefined;
  event: PushEvent | UnknownPushEvent | undefined;
  error: string;
  attempts: number;
  failedAt: Date;
}

/** Chooses between dead letters of one uuid. */
interface DeadLetterScope {
  accountSid?: string | undefined;
  receiver?: string | undefined;
}

/** An event, as the queues of express-push-verification/durable find it. */
interface FoundEvent {
  state: string;
  event: PushEvent | UnknownPushEvent | undefined;
  attempts: number;
  failures: readonly {
    at: Date;
    error: string;
    durationMs?: number | undefined;
    process?: string | undefined;
  }[];
  at: Date | undefined;
}

/** A queue that the console shows: every queue of express-push-verification/durable is one. */
export interface ConsoleQueue {
  /** Counts the events of the queue; the console shows no age and no workers when they are absent. */
  stats(): Promise<{
    waiting: number;
    active: number;
    delayed: number;
    deadLetters: number;
    oldestWaitingMs?: number | undefined;
    workers?: number | undefined;
  }>;
  /** Lists the dead letters, the oldest failure first. */
  deadLetters(): AsyncIterable<ListedDeadLetter>;
  /** Runs the handlers of a dead letter again; resolves to whether there was one. */
  retry(uuid: string, options?: DeadLetterScope): Promise<boolean>;
  /** Tells where an event is; the console does not show it when this is absent. */
  find?(uuid: string, options?: DeadLetterScope): Promise<FoundEvent | undefined>;
  /** Removes a dead letter, so that its handlers do not run again; resolves to whether there was one. */
  discard(uuid: string, options?: DeadLetterScope): Promise<boolean>;
}

const MAX_LISTED = 1_000;
const MAX_PER_GROUP = 20;
const MAX_GROUPS = 50;

/** Reads the state of a queue, its dead letters grouped by error, the largest group first. */
export async function readQueue(queue: ConsoleQueue, reveals: boolean): Promise<QueueView> {
  const atMs = Date.now();
  const { oldestWaitingMs, workers, ...counts } = await queue.stats();
  const groups = new Map<string, { count: number; deadLetters: DeadLetterRow[] }>();
  let listed = 0;
  for await (const deadLetter of queue.deadLetters()) {
    if (++listed > MAX_LISTED) break;
    const error = errorOf(deadLetter);
    const group = groups.get(error) ?? { count: 0, deadLetters: [] };
    groups.set(error, group);
    group.count++;
    // The oldest come first, and the newest are shown.
    group.deadLetters.push(toRow(deadLetter, reveals));
    if (group.deadLetters.length > MAX_PER_GROUP) group.deadLetters.shift();
  }
  const sorted = [...groups].map(([error, { count, deadLetters }]): DeadLetterGroup => ({
    error,
    count,
    deadLetters: deadLetters.toReversed(),
  }));
  return {
    atMs,
    waiting: counts.waiting,
    active: counts.active,
    delayed: counts.delayed,
    deadLetters: counts.deadLetters,
    oldestWaitingMs,
    workers,
    groups: sorted.toSorted((a, b) => b.count - a.count).slice(0, MAX_GROUPS),
    isCut: listed > MAX_LISTED || sorted.length > MAX_GROUPS,
  };
}

/** Lists the last dead letters that are accepted, of those that a console reads. */
export async function listDeadLetters(
  queue: ConsoleQueue,
  reveals: boolean,
  maxCount: number,
  accepts: (deadLetter: ListedDeadLetter) => boolean,
): Promise<DeadLetterRow[]> {
  const found: DeadLetterRow[] = [];
  let listed = 0;
  for await (const deadLetter of queue.deadLetters()) {
    if (++listed > MAX_LISTED) break;
    if (accepts(deadLetter)) found.push(toRow(deadLetter, reveals));
    if (found.length > maxCount) found.shift();
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
    await change({ uuid, accountSid, ...(receiver !== undefined && { receiver }) });
    if (--left === 0) return;
  }
}

/** Returns the part of an error that the errors of other events have too. */
function errorOf({ error, event }: ListedDeadLetter): string {
  return maskText(error, event);
}

function toRow(deadLetter: ListedDeadLetter, reveals: boolean): DeadLetterRow {
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

/** Lists the texts of the device and of the challenge. */
function listShownTexts(event: PushEvent | UnknownPushEvent | undefined): [string, string][] {
  const params = event?.params ?? [];
  return params.flatMap(([name, value]) => (REVEALED.has(name) ? [[name, cutText(value)]] : []));
}
