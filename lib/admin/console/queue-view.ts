import type { Journal } from "../../core/door";
import type { DeadLetter, DurableQueue } from "../../durable";
import { maskIdentity } from "../../kit/masked-identity";
import { cutText } from "../../kit/text";

/** A queue that the console shows: every queue of express-push-verification/durable is one. */
export interface ConsoleQueue extends Pick<
  DurableQueue,
  "deadGroups" | "deadLetters" | "retry" | "discard" | "find" | "countUserData" | "eraseUserData"
> {
  /** The history that all its processes share. */
  readonly journal?: Journal | undefined;
  /** Counts the events of the queue. */
  stats(): Promise<{
    waiting: number;
    active: number;
    delayed: number;
    deadLetters: number;
    oldestWaitingMs: number | undefined;
    workers: number | undefined;
    /** What an operator has set in the store. */
    hold?: "paused" | "limited" | undefined;
  }>;
}

/** The state of the queue. */
export type QueueView = Awaited<ReturnType<typeof readQueue>>;
/** The dead letters with one cause. */
export type DeadLetterGroup = QueueView["groups"][number];
/** One dead letter, as the page may show it. */
export type DeadLetterRow = Awaited<ReturnType<typeof toRow>>;

const MAX_PER_GROUP = 20;

/** Reads the state of a queue, and all its dead letters by error, the newest first. */
export async function readQueue(queue: ConsoleQueue, journal: Journal, reveals: boolean) {
  const atMs = Date.now();
  const [stats, groups] = await Promise.all([queue.stats(), queue.deadGroups()]);
  const listed = groups.map(async (group) => {
    const deadLetters: DeadLetterRow[] = [];
    for await (const one of queue.deadLetters({ error: group.error, newestFirst: true })) {
      deadLetters.push(await toRow(one, journal, reveals));
      if (deadLetters.length === MAX_PER_GROUP) break;
    }
    return Object.assign(group, { deadLetters });
  });
  return { ...stats, atMs, groups: await Promise.all(listed) };
}

/** Shows a dead letter as the page may. */
export async function toRow(deadLetter: DeadLetter, journal: Journal, reveals: boolean) {
  const { uuid, accountSid, receiver, event, error, attempts, failedAt } = deadLetter;
  const identity = readField(event, "entity_identity");
  return {
    uuid,
    accountSid,
    receiver,
    type: event?.type,
    version: event?.version,
    factorSid: readField(event, "factor_sid"),
    challengeSid: readField(event, "challenge_sid"),
    entity: identity && (reveals ? cutText(identity) : maskIdentity(identity)),
    person: identity && (await journal.createPseudonym(identity)),
    /** Texts of the device; only when the console reveals them. */
    revealed: reveals ? listShownTexts(event) : [],
    /** With the values of the event; only when the console reveals them. */
    error: reveals ? cutText(error, 500) : undefined,
    attempts,
    failedAtMs: failedAt.getTime(),
  };
}

type Field = "factor_sid" | "challenge_sid" | "entity_identity";

/** Reads a field; undefined of an event that does not have it. */
export function readField(event: DeadLetter["event"], name: Field): string | undefined {
  return event?.version === undefined ? undefined : (event as Partial<Record<Field, string>>)[name];
}

const REVEALED = new Set([
  "factor_friendly_name",
  "factor_metadata",
  "challenge_details",
  "challenge_metadata",
]);

function listShownTexts(event: DeadLetter["event"]): [string, string][] {
  const params = event?.params ?? [];
  return params.flatMap(([name, value]) => (REVEALED.has(name) ? [[name, cutText(value)]] : []));
}
