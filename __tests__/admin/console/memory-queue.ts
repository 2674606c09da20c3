import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import type { DeadLetter } from "../../../lib/core/delivery/event-queue";
import type { PushEvent } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { ACCOUNT_SID } from "../../support/webhook-requests";

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
  } satisfies ConsoleQueue & { changes: string[] } as ConsoleQueue & { changes: string[] };
}
