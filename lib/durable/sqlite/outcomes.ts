import type { ChallengeEvent } from "../../event/event";
import { joinOutcomeKey, type OutcomeStore } from "../../challenge/outcome-store";
import { createWaiters } from "../../challenge/waiters";
import { createResolveStored } from "../stored-outcome";
import { hashText } from "../../signature/signature";
import type { SqliteSettings } from "./options";
import type { OutcomeRow } from "./protocol";

/** The outcomes that the processes of one file share. */
export interface FileOutcomes {
  wait: OutcomeStore["wait"];
  /** Returns an outcome as it is stored. */
  toRow(account: string, event: ChallengeEvent): OutcomeRow;
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
 */
export function createFileOutcomes(
  { outcomeTtlMs, maxWaiting, logger }: SqliteSettings,
  watch: (key: string) => Promise<string | undefined>,
  unwatch: (key: string) => void,
): FileOutcomes {
  const waiters = createWaiters({ maxWaiting, onFirst: follow, onLast: unwatch });
  const resolve = createResolveStored(waiters, "the file", logger);

  function follow(key: string): void {
    watch(key).then(
      (params) => params !== undefined && resolve(key, params),
      // The file is not open; watchAgain() follows when it is.
      () => {},
    );
  }

  return {
    toRow: (account, event) => ({
      key: hashKey(joinOutcomeKey({ account, challengeSid: event.challenge_sid })),
      params: JSON.stringify(event.params),
      expiresAt: Date.now() + outcomeTtlMs,
    }),
    wait: (wait) => waiters.wait(hashKey(joinOutcomeKey(wait)), wait),
    resolve,
    watchAgain() {
      for (const key of waiters.listKeys()) follow(key);
    },
    close: waiters.close,
  };
}

/** Returns 20 bytes of the SHA-256 of a key, in hexadecimal: keys have any length. */
export function hashKey(text: string): string {
  return hashText(text).slice(0, 40);
}
