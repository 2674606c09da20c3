import * as z from "zod";
import { type DeadLetter, type EventOperations, type Journal, maskIdentity } from "../../core/door";
import { cutText } from "../../kit/text";

/** A queue that the console shows: every queue of express-push-verification/durable is one. */
export interface ConsoleQueue extends Omit<EventOperations, "retryAll"> {
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

const nameSchema = z.strictObject({
  uuid: z.string().min(1).max(256),
  accountSid: z.string().max(64),
  receiver: z.string().max(100).optional(),
});

/** The fields that tell a dead letter from others of its uuid. */
export type DeadLetterName = z.output<typeof nameSchema>;

/** The schema of a {@link DeadLetterChoice}. */
export const deadLetterChoiceSchema = z.union([
  z.strictObject({ deadLetters: z.array(nameSchema).min(1).max(1_000) }),
  z.strictObject({
    error: z.string().max(1_000).optional(),
    count: z.int().min(1),
    untilMs: z.number(),
  }),
]);

/** Which dead letters to change: some; or those with an error, or with any, that had failed until then. */
export type DeadLetterChoice = z.output<typeof deadLetterChoiceSchema>;

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

/** Lists the dead letters of a choice, the oldest first. */
export async function* chooseDeadLetters(
  queue: ConsoleQueue,
  choice: DeadLetterChoice,
): AsyncGenerator<DeadLetterName> {
  if ("deadLetters" in choice) {
    yield* choice.deadLetters;
    return;
  }
  let left = choice.count;
  for await (const deadLetter of queue.deadLetters({ error: choice.error })) {
    // The oldest failure comes first, so these are the ones that were counted.
    if (left-- === 0 || deadLetter.failedAt.getTime() > choice.untilMs) return;
    yield deadLetter;
  }
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
