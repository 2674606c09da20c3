/** Remembers values by key for a time, bounded in count: the oldest are forgotten first. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  /** Remembers what `make` makes, unless the key has a value: that stays. Tells whether it did. */
  add(key: string, make: () => Value): boolean;
}

/** Limits of {@link createRecent}. */
export interface RecentOptions {
  /** How long a value is remembered, in milliseconds. */
  ttlMs: number;
  /** How many are. */
  maxEntries: number;
}

/** Makes an empty memory. An operation takes the same time on average, however full it is. */
export function createRecent<Value>({ ttlMs, maxEntries }: RecentOptions): Recent<Value> {
  const values = new Map<string, Value>();
  // Beside the Map, for the first key of one that much was deleted from is slow to find. Two lists,
  // for one of objects is work for the garbage collector.
  let keys: string[] = [];
  let addedMs: number[] = [];
  let oldest = 0;

  function forgetOld(nowMs: number): void {
    for (; oldest < keys.length; oldest++) {
      if (nowMs - (addedMs[oldest] ?? 0) < ttlMs && values.size <= maxEntries) break;
      values.delete(keys[oldest] ?? "");
      keys[oldest] = "";
    }
    if (oldest <= keys.length / 2) return;
    keys = keys.slice(oldest);
    addedMs = addedMs.slice(oldest);
    oldest = 0;
  }

  return {
    get(key) {
      forgetOld(performance.now());
      return values.get(key);
    },
    add(key, make) {
      const nowMs = performance.now();
      forgetOld(nowMs);
      if (values.has(key)) return false;
      const ownKey = copyText(key);
      values.set(ownKey, make());
      keys.push(ownKey);
      addedMs.push(nowMs);
      forgetOld(nowMs);
      return true;
    },
  };
}

/** A text of its own: as a part of the body that it was read from, it would keep all of that. */
function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
