/** Adds an item to the next batch; see {@link createBatches}. */
export type AddToBatch<Item, Result> = (
  item: Item,
  /** Called until the item is sent. Once it returns false, the promise never settles. */
  isWanted?: () => boolean,
) => Promise<Result>;

interface PendingItem<Item, Result> {
  item: Item;
  isWanted: () => boolean;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The results of a batch arrive in one turn of the event loop, which must not be blocked for long. */
const MAX_ITEMS = 128;
/** One is written while the store runs the other. More would make batches small. */
const MAX_RUNNING = 2;

/**
 * Creates the function that collects items of one turn and those that arrive while the store is
 * busy: they share a transaction.
 *
 * @param run returns the result of each item, in their order.
 * @param maxRunning 1 keeps the order of batches.
 */
export function createBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  maxRunning = MAX_RUNNING,
): AddToBatch<Item, Result> {
  const backlog = createBacklog<PendingItem<Item, Result>>();
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= maxRunning || backlog.size() === 0) return;
    isScheduled = true;
    // After all callbacks of this turn: their items share a batch.
    setImmediate(() => void flush());
  }

  async function flush(): Promise<void> {
    isScheduled = false;
    const batch = backlog.take(MAX_ITEMS);
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
      backlog.add({ item, isWanted, resolve, reject });
      schedule();
    });
}

/** Operations that wait until a store can take them, the oldest first. */
export interface Backlog<Operation> {
  /** How many operations it holds, with those that are not wanted any more and not dropped yet. */
  size(): number;
  add(operation: Operation): void;
  /** Removes up to `count` operations, and returns those of them that are still wanted. */
  take(count: number): Operation[];
}

const SMALLEST_LIMIT = 64;

/**
 * Creates an empty backlog. While a store stalls, nothing is taken from it, and requests time out:
 * whenever its size has doubled, it drops the operations that are not wanted any more. So it holds
 * at most 64, or twice as many as were wanted at that time.
 */
export function createBacklog<Operation extends { isWanted: () => boolean }>(): Backlog<Operation> {
  let operations: Operation[] = [];
  let limit = SMALLEST_LIMIT;

  function dropUnwanted(): void {
    operations = operations.filter(({ isWanted }) => isWanted());
    limit = Math.max(2 * operations.length, SMALLEST_LIMIT);
  }

  return {
    size: () => operations.length,
    add(operation) {
      if (operations.length >= limit) dropUnwanted();
      operations.push(operation);
    },
    take(count) {
      const taken = operations.splice(0, count).filter(({ isWanted }) => isWanted());
      if (operations.length === 0) limit = SMALLEST_LIMIT;
      return taken;
    },
  };
}
