import type { Client } from "pg";

/** The advisory lock that shows that the workers of a process are alive. */
export interface AliveLock {
  /**
   * Takes the lock on a connection, or releases it, as is wanted. While another connection holds it,
   * this changes nothing; call it again later.
   */
  align(on: Client): Promise<void>;
}

/** Creates the lock of these two keys, which is wanted while `isWanted` returns true. */
export function createAliveLock(
  keys: readonly [lockClass: number, owner: number],
  isWanted: () => boolean,
): AliveLock {
  let heldOn: Client | undefined;
  let aligningOn: Client | undefined;

  async function take(on: Client): Promise<boolean> {
    // Postgres holds the lock of a half-open connection until it finds out, so this may fail.
    const { rows } = await on.query<{ held: boolean }>(
      "select pg_try_advisory_lock($1, $2) as held",
      [...keys],
    );
    return rows[0]?.held === true;
  }

  return {
    async align(on) {
      // One at a time: a connection that takes its lock twice has to release it twice.
      if (aligningOn === on) return;
      aligningOn = on;
      try {
        while (isWanted() !== (heldOn === on)) {
          if (heldOn === on) {
            await on.query("select pg_advisory_unlock($1, $2)", [...keys]);
            heldOn = undefined;
          } else if (await take(on)) heldOn = on;
          else return;
        }
      } finally {
        if (aligningOn === on) aligningOn = undefined;
      }
    },
  };
}
