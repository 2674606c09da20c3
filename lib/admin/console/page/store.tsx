import { useEffect, useState } from "preact/hooks";

/** A value that components share: each that uses it is drawn again when it changes. */
export interface Store<Value> {
  readonly value: Value;
  set(value: Value): void;
  /** Calls a listener after each change; returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

/** Creates a shared value. */
export function createStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  const store = {
    value,
    set(next: Value) {
      if (next === store.value) return;
      store.value = next;
      for (const listener of listeners) listener();
    },
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return store;
}

/** Uses the value of a store in a component. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, draw] = useState({});
  useEffect(() => store.onChange(() => draw({})), [store]);
  return store.value;
}

/** Runs a task now and, while the component is shown and the page is visible, every few milliseconds. */
export function useEvery(ms: number | undefined, task: () => unknown): void {
  useEffect(() => {
    void task();
    if (ms === undefined) return undefined;
    const timer = setInterval(() => void (document.hidden || task()), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** The value that was loaded last, and the error of a later load. */
export interface Loaded<Value> {
  value?: Value | undefined;
  error?: unknown;
}

/** A store that loads its value. */
export type Loader<Value> = Store<Loaded<Value>> & { reload: () => Promise<void> };

/** Creates a loader: the result of the last request wins, also when an earlier one arrives later. */
export function createLoader<Value>(load: () => Promise<Value>): Loader<Value> {
  const store = createStore<Loaded<Value>>({});
  let count = 0;
  async function reload(): Promise<void> {
    const mine = ++count;
    const loaded = await load().then(
      (value) => ({ value }),
      (error: unknown) => ({ value: store.value.value, error }),
    );
    if (mine === count) store.set(loaded);
  }
  return Object.assign(store, { reload });
}
