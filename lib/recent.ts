/** Remembers values by key for a time, bounded in count: the oldest are forgotten first. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  /** Remembers a value, unless the key has one: that stays. Tells whether it did. */
  add(key: string, value: Value): boolean;
}

/** Limits of {@link createRecent}. */
export interface RecentOptions {
  /** How long a value is remembered, in milliseconds. */
  ttlMs: number;
  /** How many are. */
  maxEntries: number;
}

interface Entry<Value> {
  key: string;
  value: Value;
  atMs: number;
}

/** Makes an empty memory. An operation takes the same time on average, however full it is. */
export function createRecent<Value>({ ttlMs, maxEntries }: RecentOptions): Recent<Value> {
  const entries = new Map<string, Entry<Value>>();
  // Beside the Map, for the first key of one that much was deleted from is slow to find.
  let order: (Entry<Value> | undefined)[] = [];
  let oldest = 0;

  function forgetOld(nowMs: number, maxKept: number): void {
    for (let entry = order[oldest]; entry !== undefined; entry = order[oldest]) {
      if (nowMs - entry.atMs < ttlMs && entries.size <= maxKept) break;
      entries.delete(entry.key);
      order[oldest++] = undefined;
    }
    if (oldest <= order.length / 2) return;
    order = order.slice(oldest);
    oldest = 0;
  }

  return {
    get(key) {
      forgetOld(performance.now(), maxEntries);
      return entries.get(key)?.value;
    },
    add(key, value) {
      const nowMs = performance.now();
      forgetOld(nowMs, maxEntries);
      if (entries.has(key)) return false;
      forgetOld(nowMs, maxEntries - 1);
      const entry = { key: copyText(key), value, atMs: nowMs };
      entries.set(entry.key, entry);
      order.push(entry);
      return true;
    },
  };
}

/** A text of its own: as a part of the body that it was read from, it would keep all of that. */
export function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
