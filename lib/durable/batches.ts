interface PendingItem<Item, Result> {
  item: Item;
  isWanted: () => boolean;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The size of batches, and how many run at a time. */
export interface BatchLimits {
  maxItems: number;
  maxRunning: number;
}

/** The results of a batch arrive in one turn. One is written while the store runs the other. */
const LIMITS: BatchLimits = { maxItems: 128, maxRunning: 2 };
/** Keeps the order of the batches. */
export const ORDERED: BatchLimits = { ...LIMITS, maxRunning: 1 };
const SMALLEST_LIMIT = 64;

/**
 * Creates the function that collects the items of one turn, and of the time while the store is busy:
 * they share a transaction. Whenever their number has doubled, items that are not wanted any more
 * are dropped: their promises never settle.
 *
 * @param run returns the result of each item, in their order.
 */
export function createBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxItems, maxRunning } = LIMITS,
): (item: Item, isWanted?: () => boolean) => Promise<Result> {
  let pending: PendingItem<Item, Result>[] = [];
  let limit = SMALLEST_LIMIT;
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= maxRunning || pending.length === 0) return;
    isScheduled = true;
    // After all callbacks of this turn: their items share a batch.
    setImmediate(() => void flush());
  }

  async function flush(): Promise<void> {
    isScheduled = false;
    const batch = pending.splice(0, maxItems).filter(({ isWanted }) => isWanted());
    if (pending.length === 0) limit = SMALLEST_LIMIT;
    if (batch.length > 0) running++;
    schedule();
    if (batch.length === 0) return;
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    running--;
    schedule();
  }

  return (item, isWanted = () => true) =>
    new Promise((resolve, reject) => {
      if (pending.length >= limit) {
        pending = pending.filter((one) => one.isWanted());
        limit = Math.max(2 * pending.length, SMALLEST_LIMIT);
      }
      pending.push({ item, isWanted, resolve, reject });
      schedule();
    });
}
