/** A map whose entries expire, bounded in count: the oldest are evicted first. */
export type ExpiringMap<Value> = ReturnType<typeof createExpiringMap<Value>>;

/** What a map holds. */
export interface MapTotals {
  entries: number;
  /** By `sizeOf`. */
  bytes: number;
}

/** Bounds of {@link createExpiringMap}. */
export interface ExpiringMapOptions<Value> {
  /** How long an entry is kept, in milliseconds. */
  ttlMs: number;
  /** How many entries are kept. @default no bound */
  maxEntries?: number;
  /** Estimates the size of an entry in bytes, for the totals. @default 0 */
  sizeOf?: (key: string, value: Value) => number;
  /** Counts what several maps hold together. @default none */
  shared?: MapTotals;
}

/** Creates an empty map. An operation takes the same time on average, however full the map is. */
export function createExpiringMap<Value>(options: ExpiringMapOptions<Value>) {
  const { ttlMs, maxEntries = Number.POSITIVE_INFINITY, sizeOf = () => 0 } = options;
  const { shared = { entries: 0, bytes: 0 } } = options;
  const values = new Map<string, Value>();
  // Beside the Map: finding its first key is slow after many deletions. Two arrays, because an
  // array of objects costs garbage collection.
  let keys: string[] = [];
  let addedMs: number[] = [];
  let oldest = 0;
  const totals: MapTotals = { entries: 0, bytes: 0 };

  function removeOldest(): void {
    const key = keys[oldest] ?? "";
    count(-1, -sizeOf(key, values.get(key) as Value));
    values.delete(key);
    keys[oldest] = "";
    oldest++;
  }

  function count(entries: number, bytes: number): void {
    totals.entries += entries;
    totals.bytes += bytes;
    shared.entries += entries;
    shared.bytes += bytes;
  }

  function removeOld(nowMs: number): void {
    while (oldest < keys.length) {
      const isExpired = nowMs - (addedMs[oldest] ?? 0) >= ttlMs;
      if (!isExpired && totals.entries <= maxEntries) break;
      removeOldest();
    }
    compact();
  }

  function compact(): void {
    if (oldest <= keys.length / 2) return;
    keys = keys.slice(oldest);
    addedMs = addedMs.slice(oldest);
    oldest = 0;
  }

  return {
    get(key: string): Value | undefined {
      removeOld(performance.now());
      return values.get(key);
    },
    /** Adds what `create` returns unless the key has a value; returns whether it was added. */
    add(key: string, create: () => Value): boolean {
      const nowMs = performance.now();
      removeOld(nowMs);
      if (values.has(key)) return false;
      const ownKey = copyText(key);
      const value = create();
      values.set(ownKey, value);
      keys.push(ownKey);
      addedMs.push(nowMs);
      count(1, sizeOf(ownKey, value));
      removeOld(nowMs);
      return true;
    },
    /** Removes the oldest entry, if there is one. */
    evictOldest(): void {
      if (oldest < keys.length) removeOldest();
      compact();
    },
    /** What the map holds, with expired entries that no call has removed yet. */
    totals: totals as Readonly<MapTotals>,
  };
}

/** Copies a text: a slice of the body that it was parsed from would keep the whole body. */
function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
