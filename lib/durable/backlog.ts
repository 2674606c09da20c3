/** Operations that wait until a store can take them, the oldest first. */
export interface Backlog<Operation> {
  /** How many operations it holds, with those that are not wanted any more and not dropped yet. */
  size(): number;
  add(operation: Operation): void;
  /** Adds an operation that is to be taken next. */
  addFirst(operation: Operation): void;
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
    addFirst: (operation) => void operations.unshift(operation),
    take(count) {
      const taken = operations.splice(0, count).filter(({ isWanted }) => isWanted());
      if (operations.length === 0) limit = SMALLEST_LIMIT;
      return taken;
    },
  };
}
