import { copyText } from "../../kit/copied-text";

/** Measured: an entry, its place in a Map that has just grown, and two texts without characters. */
const ENTRY_BYTES = 218;
/** Measured: the objects of an owner and its account. */
const SHARE_BYTES = 750;

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
}

/** An entry of a fair map. */
export interface FairEntry<Value> {
  readonly share: Share<Value>;
  readonly key: string;
  readonly value: Value;
  readonly bytes: number;
  readonly addedMs: number;
  older: FairEntry<Value> | undefined;
  newer: FairEntry<Value> | undefined;
}

interface Amounts {
  entries: number;
  bytes: number;
}

/** The entries of one owner, linked: the first key of a Map is slow to find after many deletions. */
interface Share<Value> {
  readonly owner: string;
  readonly account: Account<Value>;
  readonly entries: Map<string, FairEntry<Value>>;
  oldest: FairEntry<Value> | undefined;
  newest: FairEntry<Value> | undefined;
}

interface Account<Value> extends Amounts {
  readonly name: string;
  readonly shares: Map<string, Share<Value>>;
}

/**
 * A map that is bounded in entries, bytes and time. Entries belong to an owner, owners to an account.
 *
 * At a limit, the map chooses one of the accounts that have the most, then the owner in it that has
 * the most, and removes the oldest entry of this owner. An account with less than an equal share
 * loses nothing.
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

  constructor(options: FairMapOptions<Value>) {
    this.#maxEntries = options.maxEntries;
    this.#maxBytes = options.maxBytes ?? Infinity;
    this.#ttlMs = options.ttlMs ?? Infinity;
    this.#onEvict = options.onEvict;
  }

  /** Returns the value of an account that has no owners. */
  get(account: string, key: string): Value | undefined {
    const share = this.#accounts.get(account)?.shares.get("");
    if (share !== undefined) this.#removeExpired(share, performance.now());
    return share?.entries.get(key)?.value;
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
    if (known?.entries.has(key) === true) return undefined;
    // A share without entries was removed.
    const share =
      known === undefined || known.entries.size === 0 ? this.#addShare(account, owner) : known;
    const ownKey = copyText(key);
    const entry: FairEntry<Value> = {
      share,
      key: ownKey,
      value,
      bytes: bytes + ENTRY_BYTES + countBytes(ownKey),
      addedMs,
      older: share.newest,
      newer: undefined,
    };
    if (share.newest === undefined) share.oldest = entry;
    else share.newest.newer = entry;
    share.newest = entry;
    share.entries.set(ownKey, entry);
    this.#count(share, 1, entry.bytes);
    this.#evict(share.account, addedMs);
    return entry;
  }

  /** Removes an entry, unless it was removed before. */
  remove(entry: FairEntry<Value>): void {
    const { share, key, bytes, older, newer } = entry;
    if (share.entries.get(key) !== entry) return;
    if (older === undefined) share.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) share.newest = older;
    else newer.older = older;
    this.#count(share, -1, -bytes);
    const { entries, account, owner } = share;
    entries.delete(key);
    if (entries.size > 0) return;
    this.#count(share, 0, -SHARE_BYTES);
    account.shares.delete(owner);
    if (account.shares.size === 0) this.#accounts.delete(account.name);
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
      entries: new Map(),
      oldest: undefined,
      newest: undefined,
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
    while (share.oldest !== undefined && nowMs - share.oldest.addedMs >= this.#ttlMs) {
      this.remove(share.oldest);
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
      if (most === undefined || share.entries.size > most.entries.size) most = share;
    }
    const oldest = most?.oldest;
    if (oldest === undefined) return;
    this.remove(oldest);
    this.#onEvict?.(oldest.value);
  }
}

/** Returns how many bytes the characters of a text take at most: two each if one is beyond ASCII. */
function countBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
