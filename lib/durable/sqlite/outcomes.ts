import type { ChallengeEvent } from "../../event/event";
import { joinOutcomeKey, type OutcomeStore } from "../../challenge/outcome-store";
import { createWaiters } from "../../challenge/waiters";
import { createResolveStored } from "../stored-outcome";
import { hashText } from "../../signature/signature";
import type { SqliteSettings } from "./options";
import type { FileOutcomeRow } from "./protocol";

/** The outcomes that the processes of one file share. */
export interface FileOutcomes {
  wait: OutcomeStore["wait"];
  /** Returns an outcome as it is stored. */
  toRow(account: string, event: ChallengeEvent): FileOutcomeRow;
  /** Resolves the waits for an outcome. */
  resolve(key: string, params: string): void;
  /** Asks for the outcomes of all pending waits again: a closed file forgets who waits. */
  watchAgain(): void;
  /** Rejects the pending waits in the same turn, and every later wait. */
  close(): void;
}

/**
 * Creates the outcomes that the processes of one file share.
 *
 * @param watch returns the outcome of a key if there is one, and has `resolve` called once there is.
 *   It settles never if `isWanted` returns false before the thread has it.
 * @param unwatch ends what `watch` began; called once for each key that the thread has.
 */
export function createFileOutcomes(
  { outcomeTtlMs, maxWaiting, logger }: SqliteSettings,
  watch: (key: string, isWanted: () => boolean) => Promise<string | undefined>,
  unwatch: (key: string) => void,
): FileOutcomes {
  const awaited = new Set<string>();
  /** The keys that the thread watches. While it stalls, waits that end add nothing to its backlog. */
  const watched = new Set<string>();
  const waiters = createWaiters({
    maxWaiting,
    onFirst(key) {
      awaited.add(key);
      follow(key);
    },
    onLast(key) {
      awaited.delete(key);
      if (watched.delete(key)) unwatch(key);
    },
  });
  const resolve = createResolveStored(waiters, "the file", logger);

  function follow(key: string): void {
    watch(key, () => awaited.has(key)).then(
      (params) => take(key, params),
      // The file is not open; watchAgain() follows when it is.
      () => {},
    );
  }

  function take(key: string, params: string | undefined): void {
    if (!awaited.has(key)) return unwatch(key);
    watched.add(key);
    if (params !== undefined) resolve(key, params);
  }

  return {
    toRow: (account, event) => ({
      key: hashFileKey(joinOutcomeKey({ account, challengeSid: event.challenge_sid })),
      params: JSON.stringify(event.params),
      expiresAt: Date.now() + outcomeTtlMs,
    }),
    wait: (wait) => waiters.wait(hashFileKey(joinOutcomeKey(wait)), wait),
    resolve,
    watchAgain() {
      watched.clear();
      for (const key of waiters.listKeys()) follow(key);
    },
    close: waiters.close,
  };
}

/** Returns 20 bytes of the SHA-256 of a key, in hexadecimal: keys have any length. */
export function hashFileKey(text: string): string {
  return hashText(text).slice(0, 40);
}
