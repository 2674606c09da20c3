import { useEffect, useState } from "preact/hooks";

/** A value that the page shows: the page is drawn again when another one is set. */
export type Store<Value> = ReturnType<typeof createStore<Value>>;

/** Draws the page again, once for all calls of a turn. */
export let redraw = (): void => {};

/** Is called by the component that all others are in: a change of any store draws it again. */
export function useStores(): void {
  const [, draw] = useState({});
  redraw = () => draw({});
}

/** Creates a shared value. */
export function createStore<Value>(current: Value) {
  return {
    get value() {
      return current;
    },
    set value(next) {
      current = next;
      redraw();
    },
  };
}

/** Runs a task now and, while the page is visible and it is not over, every few milliseconds; 0: once. */
export function useEvery(ms: number, task: () => unknown, isOver = () => false): void {
  useEffect(() => {
    void task();
    if (ms === 0) return undefined;
    const timer = setInterval(() => void (document.hidden || isOver() || task()), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** A value that is loaded: the last one, and the error of a later load. */
export interface Loader<Value> {
  value: Value | undefined;
  error: unknown;
  reload(): Promise<void>;
}

/** Creates a loader: the result of the last request wins, also when an earlier one arrives later. */
export function createLoader<Value>(load: () => Promise<Value>): Loader<Value> {
  let count = 0;
  const loader: Loader<Value> = {
    value: undefined,
    error: undefined,
    async reload() {
      const mine = ++count;
      const result = await load().then(
        (value) => ({ value, error: undefined }),
        (error: unknown) => ({ error }),
      );
      if (mine !== count) return;
      Object.assign(loader, result);
      redraw();
    },
  };
  return loader;
}
