import { type EventQueue, StoredOutcomes } from "../core/door";
import { createBatches, ORDERED } from "./batches";
import type { QueueSettings } from "./queue-options";
import type { Storage } from "./storage";
import { hashKey } from "./event-key";

type OutcomeStore = EventQueue["outcomes"];

/** The outcome of a challenge, as a receiver or a wait has it. */
export type Outcome = Parameters<OutcomeStore["record"]>[1];

const RECHECK_MS = 3_000;

/** The outcomes that processes share. A wait reads its outcome first, and after each hint. */
export class SharedOutcomes extends StoredOutcomes {
  readonly #readValue: (key: string) => Promise<string | undefined>;
  /** The keys that wait for a read: a store that stalls gets each once. */
  readonly #toRead = new Set<string>();
  readonly #rechecks = setInterval(() => this.recheck(), RECHECK_MS).unref();

  constructor(storage: Storage, { name, maxWaiting }: QueueSettings) {
    super(maxWaiting, (key) => hashKey(name, key));
    this.#readValue = createBatches(async (keys: readonly string[]) => {
      // A hint that arrives during this read needs another read.
      for (const key of keys) this.#toRead.delete(key);
      const found = await storage.outcomes(keys);
      const byKey = new Map(found.map(({ key, value }) => [key, value]));
      return keys.map((key) => byKey.get(key));
    }, ORDERED);
  }

  override readonly wait: OutcomeStore["wait"] = (wait) => {
    const outcome = super.wait(wait);
    this.notice([this.keyOf(wait)]);
    return outcome;
  };

  /** Reads the outcomes under these keys for which waits are pending. */
  notice(keys: readonly string[]): void {
    for (const key of keys) if (this.has(key) && !this.#toRead.has(key)) void this.#read(key);
  }

  /** Reads all of them: a hint may be lost. */
  recheck(): void {
    this.notice(this.listKeys());
  }

  /** Rejects the pending waits in the same turn, and every later wait. */
  override close(): void {
    clearInterval(this.#rechecks);
    super.close();
  }

  async #read(key: string): Promise<void> {
    this.#toRead.add(key);
    try {
      const value = await this.#readValue(key);
      // The wait for an unreadable outcome goes on.
      if (value !== undefined) this.read(key, value);
    } catch {
      // The recheck makes up for a read that fails.
    }
  }
}
