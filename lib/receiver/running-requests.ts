/** Creates the count of the requests of a receiver that are running. */
export function createRunningRequests() {
  let count = 0;
  let wake: (() => void) | undefined;

  return {
    begin: () => void count++,
    end(): void {
      if (--count === 0) wake?.();
    },
    /** Resolves when no request is running. */
    awaitNone(): Promise<void> {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => (wake = resolve));
    },
  };
}
