interface SharedListener {
  listeners: Set<() => void>;
  /** The one event listener of the signal. */
  run: () => void;
}

const sharedBySignal = new WeakMap<AbortSignal, SharedListener>();

/**
 * Adds a listener for the abort of a signal; returns a function that removes it. All share one
 * event listener of the signal: above ten, Node prints MaxListenersExceededWarning.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const shared = sharedBySignal.get(signal) ?? attachTo(signal);
  shared.listeners.add(listener);
  return function removeListener() {
    // Already removed: by now the signal may have another shared listener.
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    signal.removeEventListener("abort", shared.run);
    sharedBySignal.delete(signal);
  };
}

function attachTo(signal: AbortSignal): SharedListener {
  const listeners = new Set<() => void>();
  const run = () => {
    for (const listener of listeners) listener();
  };
  const shared = { listeners, run };
  sharedBySignal.set(signal, shared);
  signal.addEventListener("abort", run);
  return shared;
}
