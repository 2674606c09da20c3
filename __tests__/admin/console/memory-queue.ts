import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import type { DeadLetter, QueueUser } from "../../../lib/durable";
import type { Journal } from "../../../lib/core/journal/journal";
import { maskText } from "../../../lib/core/journal/mask";
import { MemoryJournal } from "../../../lib/core/delivery/memory-journal";
import { WebhookError, type PushEvent } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { ACCOUNT_SID } from "../../support/webhook-requests";

/** What a queue rejects with while its store is down. */
export const storeDown = new WebhookError("STORE_UNAVAILABLE", "connect ECONNREFUSED");

export const USER_DATA = {
  waiting: 1,
  active: 2,
  delayed: 3,
  deadLetters: 4,
  outcomes: 5,
  entries: 6,
};

/** A journal that several processes may share, in memory. */
export function createSharedJournal(): Journal {
  const journal = new MemoryJournal();
  return {
    isShared: true,
    append: (entry) => journal.append(entry),
    count: (...names) => journal.count(...names),
    read: (after) => journal.read(after),
    readCounts: (fromMs) => journal.readCounts(fromMs),
    createPseudonym: (identity) => journal.createPseudonym(identity),
  };
}

export function createMemoryQueue(
  errors: readonly string[],
  stats: object = {},
  events: readonly (PushEvent | undefined)[] = [undefined],
) {
  const approval = eventFixture("challenge.approved");
  let deadLetters: DeadLetter[] = errors.map((error, index) => ({
    uuid: `uuid-${index}`,
    accountSid: ACCOUNT_SID,
    receiver: index % 2 === 0 ? "shop" : undefined,
    event: index < events.length ? events[index] : approval,
    error,
    attempts: 8,
    failedAt: new Date(Date.UTC(2026, 2, 5, 9, 0, index)),
  }));
  const changes: string[] = [];
  const remove = (change: string) => async (uuid: string) => {
    const count = deadLetters.length;
    deadLetters = deadLetters.filter((deadLetter) => deadLetter.uuid !== uuid);
    changes.push(`${change} ${uuid}`);
    return deadLetters.length < count;
  };
  const counts = { waiting: 3, active: 2, delayed: 1, oldestWaitingMs: 4_200, workers: 2 };
  const masked = new Map(deadLetters.map((one) => [one, maskText(one.error, one.event)]));
  const errorOf = (deadLetter: DeadLetter) => masked.get(deadLetter) ?? "";
  return {
    changes,
    journal: createSharedJournal(),
    stats: async () => ({ ...counts, deadLetters: deadLetters.length, ...stats }),
    async *deadLetters({ error, newestFirst = false } = {}) {
      // A copy: dead letters are removed while they are listed.
      const all = newestFirst ? deadLetters.toReversed() : deadLetters.slice();
      yield* all.filter((deadLetter) => (error ?? errorOf(deadLetter)) === errorOf(deadLetter));
    },
    async deadGroups() {
      const groups = [...new Set(deadLetters.map(errorOf))].map((error) => {
        const own = deadLetters.filter((deadLetter) => errorOf(deadLetter) === error);
        const times = own.map(({ failedAt }) => failedAt.getTime());
        const [firstAtMs = 0] = times;
        const count = own.length;
        return { error, count, users: 1, firstAtMs, lastAtMs: times.at(-1) ?? 0 };
      });
      return groups.toSorted((a, b) => b.count - a.count);
    },
    retry: remove("retry"),
    discard: remove("discard"),
    find: async () => undefined,
    countUserData: async () => USER_DATA,
    eraseUserData: async ({ accountSid, entityIdentity }: QueueUser) => {
      changes.push(`erase ${accountSid} ${entityIdentity}`);
      return USER_DATA;
    },
  } satisfies ConsoleQueue & { changes: string[] } as ConsoleQueue & { changes: string[] };
}

/** The options of a console whose receiver stores its events in a queue. */
export function storeIn(queue: ConsoleQueue, receiver: object = {}) {
  const store = { ...queue, store: async () => "new", outcomes: {} };
  return { router: { queue }, receiver: { ...receiver, queue: store as never } };
}
