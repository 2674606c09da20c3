import { copyText } from "./text";

/** Measured: an entry, its place in a Map that has just grown, and a key without characters. */
const ENTRY_BYTES = 218;
/** Measured: the objects of an owner and its account. */
const SHARE_BYTES = 750;

/** The values of a map, by the numbers of their entries. */
export interface FairValues<Value> {
  get(index: number): Value | undefined;
  set(index: number, value: Value): void;
  delete(index: number): void;
}

/** Bounds of {@link FairMap}. */
export interface FairMapOptions<Value> {
  /** How many entries are kept. */
  maxEntries: number;
  /** How many bytes the entries may take, as `add` receives them. @default no bound */
  maxBytes?: number;
  /** How long an entry is kept, in milliseconds. @default no bound */
  ttlMs?: number;
  /** Called for an entry that is evicted before it expires. */
  onEvict?: (value: Value) => void;
  /** Where values are kept. @default a Map */
  values?: FairValues<Value>;
}

/** An entry of a fair map, to remove it. */
export interface FairEntry<Value> {
  readonly share: Share<Value>;
  readonly key: string;
}

interface Amounts {
  entries: number;
  bytes: number;
}

/** The entries of one owner, linked: the first key of a Map is slow to find after many deletions. */
interface Share<Value> {
  readonly owner: string;
  readonly account: Account<Value>;
  readonly indexes: Map<string, number>;
  oldest: number;
  newest: number;
}

interface Account<Value> extends Amounts {
  readonly name: string;
  readonly shares: Map<string, Share<Value>>;
}

const NONE = -1;

/** What `#numbers` has of an entry: the entries beside it in its share, its bytes, and when it was added. */
const OLDER = 0;
const NEWER = 1;
const BYTES = 2;
const ADDED_MS = 3;
const NUMBERS = 4;

/**
 * A map that is bounded in entries, bytes and time. Entries belong to an owner, owners to an account.
 *
 * At a limit, the map chooses one of the accounts that have the most, then the owner in it that has
 * the most, and removes the oldest entry of this owner. An account with less than an equal share
 * loses nothing.
 *
 * An entry is a number, whose fields are in columns: see `TextColumn` for the reason.
 */
export class FairMap<Value> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #ttlMs: number;
  readonly #onEvict: ((value: Value) => void) | undefined;
  readonly #accounts = new Map<string, Account<Value>>();
  /** The amounts of all accounts. */
  readonly #held: Amounts = { entries: 0, bytes: 0 };
  /** The accounts that may be evicted from, the next one at the end; the small ones are skipped. */
  #candidates: Account<Value>[] = [];
  /** How much an account must have to be evicted from. */
  #largestMin = 0;
  #numbers = new Float64Array(NUMBERS * 16);
  readonly #keys: string[] = [];
  readonly #values: FairValues<Value>;
  /** The numbers of removed entries. */
  readonly #free: number[] = [];

  constructor(options: FairMapOptions<Value>) {
    this.#maxEntries = options.maxEntries;
    this.#maxBytes = options.maxBytes ?? Infinity;
    this.#ttlMs = options.ttlMs ?? Infinity;
    this.#onEvict = options.onEvict;
    this.#values = options.values ?? new Map<number, Value>();
  }

  /** Returns the value of an account that has no owners. */
  get(account: string, key: string): Value | undefined {
    const share = this.#accounts.get(account)?.shares.get("");
    if (share === undefined) return undefined;
    this.#removeExpired(share, performance.now());
    const index = share.indexes.get(key);
    return index === undefined ? undefined : this.#values.get(index);
  }

  /** Adds a value unless the owner has one for this key; returns the new entry. */
  add(
    account: string,
    key: string,
    value: Value,
    { bytes = 0, owner = "" } = {},
  ): FairEntry<Value> | undefined {
    const addedMs = performance.now();
    const known = this.#accounts.get(account)?.shares.get(owner);
    if (known !== undefined) this.#removeExpired(known, addedMs);
    if (known?.indexes.has(key) === true) return undefined;
    // A share without entries was removed.
    const share =
      known === undefined || known.indexes.size === 0 ? this.#addShare(account, owner) : known;
    const ownKey = copyText(key);
    const index = this.#takeIndex();
    this.#keys[index] = ownKey;
    this.#values.set(index, value);
    const allBytes = bytes + ENTRY_BYTES + countBytes(ownKey);
    this.#numbers.set([share.newest, NONE, allBytes, addedMs], NUMBERS * index);
    if (share.newest === NONE) share.oldest = index;
    else this.#numbers[NUMBERS * share.newest + NEWER] = index;
    share.newest = index;
    share.indexes.set(ownKey, index);
    this.#count(share, 1, allBytes);
    this.#evict(share.account, addedMs);
    return { share, key: ownKey };
  }

  /** Removes an entry, unless it was removed before. */
  remove({ share, key }: FairEntry<Value>): void {
    const index = share.indexes.get(key);
    if (index === undefined) return;
    const older = this.#read(index, OLDER);
    const newer = this.#read(index, NEWER);
    if (older === NONE) share.oldest = newer;
    else this.#numbers[NUMBERS * older + NEWER] = newer;
    if (newer === NONE) share.newest = older;
    else this.#numbers[NUMBERS * newer + OLDER] = older;
    this.#count(share, -1, -this.#read(index, BYTES));
    const { indexes, account, owner } = share;
    indexes.delete(key);
    this.#keys[index] = "";
    this.#values.delete(index);
    this.#free.push(index);
    if (indexes.size > 0) return;
    this.#count(share, 0, -SHARE_BYTES);
    account.shares.delete(owner);
    if (account.shares.size === 0) this.#accounts.delete(account.name);
  }

  /** Returns the number of a new entry. */
  #takeIndex(): number {
    const index = this.#free.pop() ?? this.#keys.length;
    if (NUMBERS * index === this.#numbers.length) {
      const numbers = new Float64Array(2 * this.#numbers.length);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
    }
    return index;
  }

  #read(index: number, field: number): number {
    return this.#numbers[NUMBERS * index + field] as number;
  }

  #addShare(name: string, owner: string): Share<Value> {
    const account: Account<Value> = this.#accounts.get(name) ?? {
      name: copyText(name),
      shares: new Map(),
      entries: 0,
      bytes: 0,
    };
    const share: Share<Value> = {
      owner: copyText(owner),
      account,
      indexes: new Map(),
      oldest: NONE,
      newest: NONE,
    };
    account.shares.set(share.owner, share);
    this.#accounts.set(account.name, account);
    this.#count(share, 0, SHARE_BYTES);
    return share;
  }

  #count({ account }: Share<Value>, entries: number, bytes: number): void {
    account.entries += entries;
    account.bytes += bytes;
    this.#held.entries += entries;
    this.#held.bytes += bytes;
  }

  #removeExpired(share: Share<Value>, nowMs: number): void {
    while (share.oldest !== NONE && nowMs - this.#read(share.oldest, ADDED_MS) >= this.#ttlMs) {
      this.#removeOldest(share);
    }
  }

  /** Evicts from this.#accounts that have at least an equal share, and 90 % of the largest one's amount. */
  #evict(adding: Account<Value>, nowMs: number): void {
    for (;;) {
      const total =
        this.#held.entries > this.#maxEntries
          ? "entries"
          : this.#held.bytes > this.#maxBytes
            ? "bytes"
            : undefined;
      if (total === undefined) return;
      const account = this.#candidates.at(-1);
      if (account === undefined) this.#candidates = this.#listCandidates(total, nowMs);
      else if (
        account[total] < this.#largestMin ||
        account[total] * this.#accounts.size < this.#held[total]
      ) {
        this.#candidates.pop();
      } else {
        // An account grows only when it adds, and then this runs: no other one has more than the candidate.
        this.#evictOldest(adding[total] > account[total] ? adding : account);
      }
    }
  }

  /** A search takes as long as there are this.#accounts, so several evictions share its result. */
  #listCandidates(total: keyof Amounts, nowMs: number): Account<Value>[] {
    let most = 0;
    for (const account of this.#accounts.values()) {
      // The expired entries of an idle account do not count.
      for (const share of account.shares.values()) this.#removeExpired(share, nowMs);
      most = Math.max(most, account[total]);
    }
    this.#largestMin = Math.max(0.9 * most, 1);
    return [...this.#accounts.values()].toReversed();
  }

  #evictOldest({ shares }: Account<Value>): void {
    let most: Share<Value> | undefined;
    for (const share of shares.values()) {
      if (most === undefined || share.indexes.size > most.indexes.size) most = share;
    }
    if (most === undefined) return;
    const value = this.#values.get(most.oldest) as Value;
    this.#removeOldest(most);
    this.#onEvict?.(value);
  }

  #removeOldest(share: Share<Value>): void {
    this.remove({ share, key: this.#keys[share.oldest] as string });
  }
}

/** Returns how many bytes the characters of a text take at most: two each if one is beyond ASCII. */
function countBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
