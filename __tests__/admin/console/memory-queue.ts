import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import type { DeadLetter, QueueUser } from "../../../lib/core/delivery/event-queue";
import type { PushEvent } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { ACCOUNT_SID } from "../../support/webhook-requests";

/** What it holds of each user. */
export const USER_DATA = {
  waiting: 1,
  active: 2,
  delayed: 3,
  deadLetters: 4,
  outcomes: 5,
  entries: 6,
};

/** A queue of dead letters in memory, for tests of the console. */
export function createMemoryQueue(
  errors: readonly string[],
  stats: object = {},
  events: readonly (PushEvent | undefined)[] = [undefined],
) {
  let deadLetters: DeadLetter[] = errors.map((error, index) => ({
    uuid: `uuid-${index}`,
    accountSid: ACCOUNT_SID,
    receiver: index % 2 === 0 ? "shop" : undefined,
    event: index < events.length ? events[index] : eventFixture("challenge.approved"),
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
  return {
    changes,
    stats: async () => ({ ...counts, deadLetters: deadLetters.length, ...stats }),
    async *deadLetters() {
      // A copy: dead letters are removed while they are listed.
      yield* deadLetters.slice();
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
