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

/** Runs a task now, when the page is shown again and, while it is visible, every few milliseconds. */
export function useEvery(ms: number, task: () => unknown): void {
  useEffect(() => {
    void task();
    const run = () => void (document.hidden || task());
    const timer = setInterval(run, ms);
    document.addEventListener("visibilitychange", run);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", run);
    };
  }, [ms]);
}

/** Loads a value: it has the last one, and the error of a later load. */
export class Loader<Value> {
  readonly #load: () => Promise<Value>;
  #last = Promise.resolve();
  /** How many loads run, or are to run. */
  #count = 0;
  value: Value | undefined;
  error: unknown;
  /** When the value was loaded; undefined before. */
  atMs: number | undefined;

  constructor(load: () => Promise<Value>) {
    this.#load = load;
  }

  /** Loads it, after the load that runs: that one may be older than what has just been changed. */
  reload = (): Promise<void> => {
    // One that has not begun reads what is there by then.
    if (this.#count > 1) return this.#last;
    this.#count++;
    return (this.#last = this.#last.then(() => this.#run()));
  };

  /** Loads it unless a load runs, or the server asked to wait. */
  refresh = (): Promise<void> => {
    const { retryAtMs = 0 } = Object(this.error) as { retryAtMs?: number };
    return this.#count > 0 || Date.now() < retryAtMs ? this.#last : this.reload();
  };

  async #run(): Promise<void> {
    try {
      this.value = await this.#load();
      this.atMs = Date.now();
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
    this.#count--;
    redraw();
  }
}
