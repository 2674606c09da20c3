import { useEffect, useState } from "preact/hooks";

/** Draws the page again, once for all calls of a turn. */
let redraw = (): void => {};

/** Is called by the component that all others are in: a change of any store draws it again. */
export function useStores(): void {
  const [, draw] = useState({});
  redraw = () => draw({});
}

/** Creates a shared value: the page is drawn again when another one is set. */
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

/**
 * Runs a task now, when the page is shown again and, while it is visible and not over, every few
 * milliseconds; 0: once.
 */
export function useEvery(ms: number, task: () => unknown, isOver = () => false): void {
  useEffect(() => {
    void task();
    if (ms === 0) return undefined;
    const run = () => void (document.hidden || isOver() || task());
    const timer = setInterval(run, ms);
    document.addEventListener("visibilitychange", run);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", run);
    };
  }, [ms]);
}

/** A value that is loaded: the last one, and the error of a later load. */
export interface Loader<Value> {
  value: Value | undefined;
  error: unknown;
  /** When the value was loaded; undefined before. */
  atMs: number | undefined;
  /** Loads it, after the load that runs: that one may be older than what has just been changed. */
  reload(): Promise<void>;
  /** Loads it unless a load runs: a slow response is awaited. */
  refresh(): Promise<void>;
}

/** Creates a loader. */
export function createLoader<Value>(load: () => Promise<Value>): Loader<Value> {
  let last = Promise.resolve();
  let count = 0;
  async function run(): Promise<void> {
    const result = await load().then(
      (value) => ({ value, error: undefined, atMs: Date.now() }),
      (error: unknown) => ({ error }),
    );
    count--;
    Object.assign(loader, result);
    redraw();
  }
  const loader: Loader<Value> = {
    value: undefined,
    error: undefined,
    atMs: undefined,
    reload() {
      // One that has not begun reads what is there by then.
      if (count > 1) return last;
      count++;
      return (last = last.then(run));
    },
    refresh() {
      const { retryAtMs = 0 } = Object(loader.error) as { retryAtMs?: number };
      return count > 0 || Date.now() < retryAtMs ? last : loader.reload();
    },
  };
  return loader;
}
