import { createExpiringMap, type ExpiringMap } from "./expiring-map";

/** Bounds of {@link createAccountMap}. */
export interface AccountMapOptions<Value> {
  /** How long an entry is kept, in milliseconds. */
  ttlMs: number;
  /** How many entries are kept. */
  maxEntries: number;
  /** How many bytes the entries may take, by `sizeOf`. */
  maxBytes: number;
  /** Estimates the size of an entry in bytes. */
  sizeOf: (key: string, value: Value) => number;
  /** Called once, when an entry is evicted before it expires. */
  onFirstEviction?: () => void;
}

/**
 * Creates an empty map of entries of several accounts that expire, bounded in count and size: the
 * account that has the most is evicted first, so that no account can evict the entries of others.
 */
export function createAccountMap<Value>(options: AccountMapOptions<Value>) {
  const { ttlMs, maxEntries, maxBytes, sizeOf, onFirstEviction } = options;
  const mapByAccount = new Map<string, ExpiringMap<Value>>();
  const shared = { entries: 0, bytes: 0 };
  let hasEvicted = false;

  function createMap(account: string): ExpiringMap<Value> {
    const map = createExpiringMap({ ttlMs, sizeOf, shared });
    mapByAccount.set(account, map);
    return map;
  }

  function evict(adding: string, added: ExpiringMap<Value>): void {
    if (!hasEvicted) onFirstEviction?.();
    hasEvicted = true;
    const total = shared.entries > maxEntries ? "entries" : "bytes";
    // An account with an equal share or more is the usual one to evict from; it needs no search.
    const isLarge = added.totals[total] * mapByAccount.size >= shared[total];
    const [account, map] = isLarge ? [adding, added] : findLargest(total);
    map.evictOldest();
    if (map.totals.entries === 0) mapByAccount.delete(account);
  }

  function findLargest(total: "entries" | "bytes"): [account: string, map: ExpiringMap<Value>] {
    return [...mapByAccount].reduce((largest, other) =>
      other[1].totals[total] > largest[1].totals[total] ? other : largest,
    );
  }

  return {
    get: (account: string, key: string): Value | undefined => mapByAccount.get(account)?.get(key),
    /** Adds what `create` returns unless the key has a value; returns whether it was added. */
    add(account: string, key: string, create: () => Value): boolean {
      const map = mapByAccount.get(account) ?? createMap(account);
      const isAdded = map.add(key, create);
      while (shared.entries > maxEntries || shared.bytes > maxBytes) evict(account, map);
      return isAdded;
    },
  };
}
