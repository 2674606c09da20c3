import { joinOutcomeKey, type OutcomeStore } from "../challenge/outcome-store";
import { createWaiters } from "../challenge/waiters";
import { isChallengeEvent, type ChallengeEvent } from "../event/event";
import { parseEvent } from "../event/parse";
import type { Pair } from "../form/form";
import { toAsciiJson } from "../form/text";
import type { QueueSettings } from "./queue-options";
import type { QueueStore, StoredOutcome } from "./storage";
import { hashKey } from "./stored-keys";

const KEYS_PER_READ = 500;
const RECHECK_MS = 3_000;

/**
 * Creates the outcomes that the processes of a queue share. A wait reads its outcome first, and after
 * each hint.
 */
export function createSharedOutcomes(store: QueueStore, settings: QueueSettings) {
  const { name, maxWaiting, logger } = settings;
  const waiters = createWaiters({ maxWaiting });
  const toRead = new Set<string>();
  let isReading = false;
  let hasWarned = false;

  /** Reports an unreadable outcome once: it may be read many times. */
  function resolve(key: string, params: string): void {
    const event = parseOutcome(params);
    if (event !== undefined) {
      waiters.resolve(key, event);
      return;
    }
    if (hasWarned) return;
    hasWarned = true;
    const message = `An outcome in ${store.title} is unreadable; the wait for it continues.`;
    const code = "OUTCOME_UNREADABLE";
    if (logger !== undefined) logger.error({ code }, message);
    else process.emitWarning(message, { type: "PushWebhooksWarning", code });
  }

  function read(keys: Iterable<string>): void {
    for (const key of keys) toRead.add(key);
    if (isReading || toRead.size === 0) return;
    isReading = true;
    // After all callbacks of this turn: their waits share a read.
    setImmediate(() => void readAll());
  }

  async function readAll(): Promise<void> {
    while (toRead.size > 0) {
      const keys = [...toRead].slice(0, KEYS_PER_READ);
      for (const key of keys) toRead.delete(key);
      // The recheck makes up for a read that fails.
      const found = await store.outcomes(keys).catch(() => []);
      for (const { key, params } of found) resolve(key, params);
    }
    isReading = false;
  }

  const notice = (keys: readonly string[]) => read(keys.filter(waiters.has));
  const recheck = () => read(waiters.listKeys());
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

function parseOutcome(params: string): ChallengeEvent | undefined {
  try {
    const event = parseEvent(JSON.parse(params) as Pair[]);
    return isChallengeEvent(event) ? event : undefined;
  } catch {
    // The error may quote the value.
    return undefined;
  }
}
