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

/** Draws a component again every few milliseconds, for ages that grow while nothing happens. */
export function useClock(everyMs: number): void {
  const [, draw] = useState({});
  useEffect(() => {
    const timer = setInterval(() => draw({}), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** What was loaded last, and why it could not be loaded again. */
export interface Loaded<Value> {
  value: Value | undefined;
  error: unknown;
}

/** A store that loads its value: the result of the last request wins, also when an earlier one arrives later. */
export function createLoader<Value>(load: () => Promise<Value>) {
  const store = createStore<Loaded<Value>>({ value: undefined, error: undefined });
  let count = 0;
  return {
    store,
    async reload(): Promise<void> {
      const mine = ++count;
      try {
        const value = await load();
        if (mine === count) store.set({ value, error: undefined });
      } catch (error) {
        if (mine === count) store.set({ value: store.value.value, error });
      }
    },
  };
}
