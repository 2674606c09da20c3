import {
  type ChallengeEvent,
  createWaiters,
  isChallengeEvent,
  joinOutcomeKey,
  type OutcomeStore,
  type Pair,
  parseEvent,
} from "../core/door";
import { toAsciiJson } from "../kit/text";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import type { Storage, StoredOutcome } from "./storage";
import { hashKey } from "./event-key";

const RECHECK_MS = 3_000;

/**
 * Creates the outcomes that the processes of a queue share. A wait reads its outcome first, and after
 * each hint.
 */
export function createSharedOutcomes(storage: Storage, { name, maxWaiting }: QueueSettings) {
  const waiters = createWaiters(maxWaiting);
  /** The keys that wait for a read: a store that stalls gets each of them once. */
  const toRead = new Set<string>();
  const readParams = createBatches(async (keys: readonly string[]) => {
    // A hint that arrives during this read needs another read.
    for (const key of keys) toRead.delete(key);
    const found = await storage.outcomes(keys);
    const byKey = new Map(found.map(({ key, params }) => [key, params]));
    return keys.map((key) => byKey.get(key));
  }, ORDERED);

  async function read(key: string): Promise<void> {
    toRead.add(key);
    try {
      const params = await readParams(key);
      const event = params === undefined ? undefined : parseEvent(JSON.parse(params) as Pair[]);
      if (event !== undefined && isChallengeEvent(event)) waiters.resolve(key, event);
    } catch {
      // The recheck makes up for a read that fails. The wait for an unreadable outcome goes on.
    }
  }

  function notice(keys: readonly string[]): void {
    for (const key of keys) if (waiters.has(key) && !toRead.has(key)) void read(key);
  }

  const recheck = () => notice(waiters.listKeys());
  const rechecks = setInterval(recheck, RECHECK_MS).unref();
  const keyOf = (account: string, challengeSid: string) =>
    hashKey(name, joinOutcomeKey({ account, challengeSid }));
  return {
    wait: ((wait) => {
      const key = keyOf(wait.account, wait.challengeSid);
      const event = waiters.wait(key, wait);
      notice([key]);
      return event;
    }) satisfies OutcomeStore["wait"],
    toStored: (account: string, event: ChallengeEvent): StoredOutcome => ({
      key: keyOf(account, event.challenge_sid),
      params: toAsciiJson(event.params),
    }),
    /** Reads the outcomes that were stored under these keys, if waits are pending for them. */
    notice,
    /** Reads all outcomes that are awaited, in case that a hint was lost. */
    recheck,
    /** Rejects the pending waits in the same turn, and every later wait. */
    close(): void {
      clearInterval(rechecks);
      waiters.close();
    },
  };
}
