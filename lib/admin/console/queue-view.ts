import type { Journal } from "../../core/door";
import type { DeadLetter, DeadLetterFilter, DurableQueue } from "../../durable";
import { maskIdentity } from "../../kit/masked-identity";
import { cutText } from "../../kit/text";
import { RouterError } from "../http/router-error";
import type { DeadLetterChoice, DeadLetterName, DeadLetterRow, QueueView } from "./console-view";

/** A queue that the console shows: every queue of express-push-verification/durable is one. */
export interface ConsoleQueue extends Pick<
  DurableQueue,
  "deadGroups" | "retry" | "discard" | "find" | "countUserData" | "eraseUserData"
> {
  /** The history that all its processes share. */
  readonly journal?: Journal | undefined;
  /** Counts the events of the queue. */
  stats(): Promise<Omit<QueueView, "atMs" | "groups">>;
  /** Lists the dead letters, or those with an error; the oldest failure first, or last. */
  deadLetters(options?: DeadLetterFilter): AsyncIterable<DeadLetter>;
}

/** Fails because the store does. */
export function fail(cause: unknown): never {
  const message = "The store of the queue does not respond. The reason is in the log of the app.";
  throw new RouterError(503, "STORE_UNAVAILABLE", message, undefined, { cause });
}

/** Makes each failure of a queue one that tells whose it is. */
export function nameFailures(queue: ConsoleQueue): ConsoleQueue {
  return {
    journal: queue.journal,
    stats: () => queue.stats().catch(fail),
    deadGroups: () => queue.deadGroups().catch(fail),
    find: (...event) => queue.find(...event).catch(fail),
    retry: (...event) => queue.retry(...event).catch(fail),
    discard: (...event) => queue.discard(...event).catch(fail),
    countUserData: (user) => queue.countUserData(user).catch(fail),
    eraseUserData: (user) => queue.eraseUserData(user).catch(fail),
    async *deadLetters(options) {
      try {
        yield* queue.deadLetters(options);
      } catch (cause) {
        fail(cause);
      }
    },
  };
}

const MAX_PER_GROUP = 20;

/** Reads the state of a queue, and all its dead letters by error. */
export async function readQueue(
  queue: ConsoleQueue,
  journal: Journal,
  reveals: boolean,
): Promise<QueueView> {
  const atMs = Date.now();
  const [stats, groups] = await Promise.all([queue.stats(), queue.deadGroups()]);
  const listed = groups.map(async ({ error, count, users, firstAtMs, lastAtMs }) => {
    const deadLetters: DeadLetterRow[] = [];
    for await (const deadLetter of queue.deadLetters({ error, newestFirst: true })) {
      deadLetters.push(await toRow(deadLetter, journal, reveals));
      if (deadLetters.length === MAX_PER_GROUP) break;
    }
    return { error, count, users, firstAtMs, lastAtMs, deadLetters };
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
export async function toRow(
  deadLetter: DeadLetter,
  journal: Journal,
  reveals: boolean,
): Promise<DeadLetterRow> {
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
    revealed: reveals ? listShownTexts(event) : [],
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
