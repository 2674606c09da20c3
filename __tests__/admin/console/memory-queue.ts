import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import type { DeadLetter } from "../../../lib/delivery/event-queue";
import { eventFixture } from "express-push-verification/testing";
import { ACCOUNT_SID } from "../../support/webhook-requests";

/** A queue of dead letters in memory, for tests of the console. */
export function createMemoryQueue(
  errors: readonly string[],
  stats: Partial<Awaited<ReturnType<ConsoleQueue["stats"]>>> = {},
): ConsoleQueue & { changes: string[] } {
  let deadLetters: DeadLetter[] = errors.map((error, index) => ({
    uuid: `uuid-${index}`,
    accountSid: ACCOUNT_SID,
    receiver: index % 2 === 0 ? "shop" : undefined,
    event: index === 0 ? undefined : eventFixture("challenge.approved"),
    error,
    attempts: 8,
    failedAt: new Date(Date.UTC(2026, 2, 5, 9, 0, index)),
  }));
  const changes: string[] = [];
  const remove = (change: string) => (uuid: string) => {
    const count = deadLetters.length;
    deadLetters = deadLetters.filter((deadLetter) => deadLetter.uuid !== uuid);
    changes.push(`${change} ${uuid}`);
    return Promise.resolve(deadLetters.length < count);
  };
  return {
    changes,
    stats: () =>
      Promise.resolve({
        waiting: 3,
        active: 2,
        delayed: 1,
        deadLetters: deadLetters.length,
        oldestWaitingMs: 4_200,
        workers: 2,
        ...stats,
      }),
    async *deadLetters() {
      // A copy: dead letters are removed while they are listed.
      yield* deadLetters.slice();
    },
    retry: remove("retry"),
    discard: remove("discard"),
    find: () => Promise.resolve(undefined),
  };
}
