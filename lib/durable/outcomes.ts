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
  const awaited = new Set<string>();
  const waiters = createWaiters({
    maxWaiting,
    onFirst(key) {
      awaited.add(key);
      read([key]);
      recheckTimer ??= setInterval(recheck, RECHECK_MS).unref();
    },
    onLast(key) {
      awaited.delete(key);
      if (awaited.size > 0) return;
      clearInterval(recheckTimer);
      recheckTimer = undefined;
    },
  });
  let hasWarned = false;
  const toRead = new Set<string>();
  let recheckTimer: NodeJS.Timeout | undefined;
  let isReading = false;

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

  const recheck = () => read(awaited);
  const keyOf = (account: string, challengeSid: string) =>
    hashKey(name, joinOutcomeKey({ account, challengeSid }));
  return {
    wait: ((wait) =>
      waiters.wait(keyOf(wait.account, wait.challengeSid), wait)) satisfies OutcomeStore["wait"],
    toStored: (account: string, event: ChallengeEvent): StoredOutcome => ({
      key: keyOf(account, event.challenge_sid),
      params: toAsciiJson(event.params),
    }),
    /** Reads the outcomes that were stored under these keys, if waits are pending for them. */
    notice: (keys: readonly string[]) => read(keys.filter((key) => awaited.has(key))),
    /** Reads all outcomes that are awaited, in case that a hint was lost. */
    recheck,
    /** Rejects the pending waits in the same turn, and every later wait. */
    close: waiters.close,
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
