import { createExpiringMap, type ExpiringMap } from "./expiring-map";

/**
 * Entries of several accounts that expire, bounded in count and size together: the account that has
 * the most is evicted first, so that no account can evict the entries of the others.
 */
export interface AccountMap<Value> {
  get(account: string, key: string): Value | undefined;
  /**
   * Adds what `create` returns, unless the key of the account has a value: that stays.
   *
   * @returns whether it was added.
   */
  add(account: string, key: string, create: () => Value): boolean;
}

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

/** Creates an empty map. */
export function createAccountMap<Value>({
  ttlMs,
  maxEntries,
  maxBytes,
  sizeOf,
  onFirstEviction,
}: AccountMapOptions<Value>): AccountMap<Value> {
  const mapByAccount = new Map<string, ExpiringMap<Value>>();
  let entries = 0;
  let bytes = 0;
  let hasEvicted = false;

  /** Runs an operation on the map of an account, and counts what it changes. */
  function change<Result>(map: ExpiringMap<Value>, operate: () => Result): Result {
    entries -= map.countEntries();
    bytes -= map.countBytes();
    const result = operate();
    entries += map.countEntries();
    bytes += map.countBytes();
    return result;
  }

  function isOverBounds(): boolean {
    return entries > maxEntries || bytes > maxBytes;
  }

  function evict(adding: string, added: ExpiringMap<Value>): void {
    if (!hasEvicted) onFirstEviction?.();
    hasEvicted = true;
    // An account with an equal share or more is the usual one to evict; it needs no search.
    const isLarge =
      entries > maxEntries
        ? added.countEntries() * mapByAccount.size >= entries
        : added.countBytes() * mapByAccount.size >= bytes;
    const [account, map] = isLarge ? [adding, added] : findLargest();
    change(map, () => map.evictOldest());
    if (map.countEntries() === 0) mapByAccount.delete(account);
  }

  function findLargest(): [account: string, map: ExpiringMap<Value>] {
    const count = entries > maxEntries ? "countEntries" : "countBytes";
    return [...mapByAccount].reduce((largest, other) =>
      other[1][count]() > largest[1][count]() ? other : largest,
    );
  }

  return {
    get(account, key) {
      const map = mapByAccount.get(account);
      return map === undefined ? undefined : change(map, () => map.get(key));
    },
    add(account, key, create) {
      const map =
        mapByAccount.get(account) ??
        createExpiringMap<Value>({ ttlMs, maxEntries: Number.POSITIVE_INFINITY, sizeOf });
      mapByAccount.set(account, map);
      const isAdded = change(map, () => map.add(key, create));
      while (isOverBounds()) evict(account, map);
      return isAdded;
    },
  };
}
