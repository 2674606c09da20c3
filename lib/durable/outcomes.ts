import { type EventQueue, type QueuedEvent, StoredOutcomes } from "../core/door";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import type { Storage, StoredOutcome } from "./storage";
import { hashKey } from "./event-key";

type OutcomeStore = EventQueue["outcomes"];

/** The outcome of a challenge, as a receiver or a wait has it. */
export type Outcome = Parameters<OutcomeStore["record"]>[1];

const RECHECK_MS = 3_000;

/** Creates the outcomes that processes share. A wait reads its outcome first, and after each hint. */
export function createSharedOutcomes(storage: Storage, { name, maxWaiting }: QueueSettings) {
  const outcomes = new StoredOutcomes(maxWaiting, (key) => hashKey(name, key));
  /** The keys that wait for a read: a store that stalls gets each once. */
  const toRead = new Set<string>();
  const readValue = createBatches(async (keys: readonly string[]) => {
    // A hint that arrives during this read needs another read.
    for (const key of keys) toRead.delete(key);
    const found = await storage.outcomes(keys);
    const byKey = new Map(found.map(({ key, value }) => [key, value]));
    return keys.map((key) => byKey.get(key));
  }, ORDERED);

  async function read(key: string): Promise<void> {
    toRead.add(key);
    try {
      const value = await readValue(key);
      // The wait for an unreadable outcome goes on.
      if (value !== undefined) outcomes.read(key, value);
    } catch {
      // The recheck makes up for a read that fails.
    }
  }

  function notice(keys: readonly string[]): void {
    for (const key of keys) if (outcomes.has(key) && !toRead.has(key)) void read(key);
  }

  const recheck = () => notice(outcomes.listKeys());
  const rechecks = setInterval(recheck, RECHECK_MS).unref();
  return {
    wait: ((wait) => {
      const outcome = outcomes.wait(wait);
      notice([outcomes.keyOf(wait)]);
      return outcome;
    }) satisfies OutcomeStore["wait"],
    toStored: (account: string, outcome: Outcome): StoredOutcome =>
      outcomes.write(account, outcome),
    ofEvent: (queued: QueuedEvent): StoredOutcome | undefined => outcomes.writeOf(queued),
    /** Reads the outcomes under these keys for which waits are pending. */
    notice,
    /** Reads all of them: a hint may be lost. */
    recheck,
    /** Rejects the pending waits in the same turn, and every later wait. */
    close(): void {
      clearInterval(rechecks);
      outcomes.close();
    },
  };
}
