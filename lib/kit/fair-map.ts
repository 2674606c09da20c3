import { copyText } from "./copied-text";
import { TextColumn } from "./text-column";

/** Measured: the fields of an entry, in columns that have just grown, and a key beyond its place. */
const ENTRY_BYTES = 218;
/** Measured: the objects of an owner and its account. */
const SHARE_BYTES = 750;

/** The values of a map, by the numbers of their entries. */
interface FairValues<Value> {
  get(index: number): Value | undefined;
  set(index: number, value: Value): void;
  delete(index: number): void;
}

/** How much a map holds. */
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

/** To remove an entry. */
export interface FairEntry<Value> {
  readonly share: Share<Value>;
  readonly key: string;
}

interface Amounts {
  entries: number;
  bytes: number;
}

/** The entries of one owner, linked by their age. */
interface Share<Value> {
  readonly owner: string;
  readonly account: Account<Value>;
  /** Begins the hash of each key: owners may have equal keys. */
  readonly seed: number;
  entries: number;
  oldest: number;
  newest: number;
}

interface Account<Value> extends Amounts {
  readonly name: string;
  readonly shares: Map<string, Share<Value>>;
}

const NONE = -1;
/** UUIDs and SIDs have as many characters or fewer. */
const KEY_BYTES = 38;
const FIRST_ENTRIES = 16;

/**
 * A map that is bounded in entries, bytes and time. Entries belong to an owner, owners to an account.
 *
 * At a limit, the map chooses one of the accounts that have the most, then the owner in it that has
 * the most, and removes the oldest entry of this owner. An account with less than an equal share
 * loses nothing.
 *
 * An entry is a number, and its fields are in columns, for the reason that `TextColumn` has.
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

  readonly #keys = new TextColumn(KEY_BYTES);
  readonly #values: FairValues<Value>;
  readonly #shares: (Share<Value> | undefined)[] = [];
  /** The entries beside each in its share. */
  #older = new Int32Array(FIRST_ENTRIES);
  #newer = new Int32Array(FIRST_ENTRIES);
  #bytes = new Float64Array(FIRST_ENTRIES);
  #addedMs = new Float64Array(FIRST_ENTRIES);
  #hashes = new Int32Array(FIRST_ENTRIES);
  /** The first entry of each hash, and the next one of the same. */
  #firsts = new Int32Array(FIRST_ENTRIES).fill(NONE);
  #nexts = new Int32Array(FIRST_ENTRIES);
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
    const entry = this.#find(share, key);
    return entry === NONE ? undefined : this.#values.get(entry);
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
    // A share without entries was removed.
    const share =
      known === undefined || known.entries === 0 ? this.#addShare(account, owner) : known;
    const keyHash = hash(key, share.seed);
    if (this.#find(share, key, keyHash) !== NONE) return undefined;
    const entry = this.#takeNumber();
    this.#keys.set(entry, key);
    this.#values.set(entry, value);
    this.#shares[entry] = share;
    this.#bytes[entry] = bytes + ENTRY_BYTES + countBytes(key);
    this.#addedMs[entry] = addedMs;
    this.#hashes[entry] = keyHash;
    this.#index(entry);
    this.#older[entry] = share.newest;
    this.#newer[entry] = NONE;
    if (share.newest === NONE) share.oldest = entry;
    else this.#newer[share.newest] = entry;
    share.newest = entry;
    this.#count(share, 1, this.#bytes[entry]);
    this.#evict(share.account, addedMs);
    return { share, key };
  }

  /** Removes the entry of this key, unless it was removed before. */
  remove({ share, key }: FairEntry<Value>): void {
    const entry = this.#find(share, key);
    if (entry !== NONE) this.#remove(entry, share);
  }

  #remove(entry: number, share: Share<Value>): void {
    const older = this.#older[entry] as number;
    const newer = this.#newer[entry] as number;
    if (older === NONE) share.oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) share.newest = older;
    else this.#older[newer] = older;
    this.#unindex(entry);
    this.#keys.delete(entry);
    this.#values.delete(entry);
    this.#shares[entry] = undefined;
    this.#free.push(entry);
    this.#count(share, -1, -(this.#bytes[entry] as number));
    if (share.entries > 0) return;
    const { account, owner } = share;
    this.#count(share, 0, -SHARE_BYTES);
    account.shares.delete(owner);
    if (account.shares.size === 0) this.#accounts.delete(account.name);
  }

  #find(share: Share<Value>, key: string, keyHash = hash(key, share.seed)): number {
    let entry = this.#firsts[keyHash & (this.#firsts.length - 1)] as number;
    while (entry !== NONE) {
      const isEqual = this.#hashes[entry] === keyHash && this.#shares[entry] === share;
      if (isEqual && this.#keys.get(entry) === key) return entry;
      entry = this.#nexts[entry] as number;
    }
    return NONE;
  }

  #index(entry: number): void {
    const at = (this.#hashes[entry] as number) & (this.#firsts.length - 1);
    this.#nexts[entry] = this.#firsts[at] as number;
    this.#firsts[at] = entry;
  }

  #unindex(entry: number): void {
    const at = (this.#hashes[entry] as number) & (this.#firsts.length - 1);
    const next = this.#nexts[entry] as number;
    let before = this.#firsts[at] as number;
    if (before === entry) {
      this.#firsts[at] = next;
      return;
    }
    while (this.#nexts[before] !== entry) before = this.#nexts[before] as number;
    this.#nexts[before] = next;
  }

  #takeNumber(): number {
    const entry = this.#free.pop() ?? this.#shares.length;
    if (entry === this.#older.length) this.#grow();
    return entry;
  }

  #grow(): void {
    const entries = this.#older.length;
    this.#older = extend(this.#older, new Int32Array(2 * entries));
    this.#newer = extend(this.#newer, new Int32Array(2 * entries));
    this.#bytes = extend(this.#bytes, new Float64Array(2 * entries));
    this.#addedMs = extend(this.#addedMs, new Float64Array(2 * entries));
    this.#hashes = extend(this.#hashes, new Int32Array(2 * entries));
    this.#nexts = new Int32Array(2 * entries);
    this.#firsts = new Int32Array(2 * entries).fill(NONE);
    // None is free.
    for (let entry = 0; entry < entries; entry++) this.#index(entry);
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
      seed: hash(owner, hash(name, takeSeed())),
      entries: 0,
      oldest: NONE,
      newest: NONE,
    };
    account.shares.set(share.owner, share);
    this.#accounts.set(account.name, account);
    this.#count(share, 0, SHARE_BYTES);
    return share;
  }

  #count(share: Share<Value>, entries: number, bytes: number): void {
    const { account } = share;
    share.entries += entries;
    account.entries += entries;
    account.bytes += bytes;
    this.#held.entries += entries;
    this.#held.bytes += bytes;
  }

  #removeExpired(share: Share<Value>, nowMs: number): void {
    while (
      share.oldest !== NONE &&
      nowMs - (this.#addedMs[share.oldest] as number) >= this.#ttlMs
    ) {
      this.#remove(share.oldest, share);
    }
  }

  /** Evicts from accounts that have at least an equal share, and 90 % of the largest one's amount. */
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

  /** A search takes as long as the list of accounts, so several evictions share its result. */
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
      if (most === undefined || share.entries > most.entries) most = share;
    }
    if (most === undefined) return;
    const value = this.#values.get(most.oldest) as Value;
    this.#remove(most.oldest, most);
    this.#onEvict?.(value);
  }
}

/** Returns how many bytes the characters of a text take at most: two each if one is beyond ASCII. */
function countBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

function extend<Column extends Int32Array | Float64Array>(shorter: Column, longer: Column): Column {
  longer.set(shorter);
  return longer;
}

let firstSeed: number | undefined;

/** Not while a module loads: Cloudflare Workers forbid random values then. */
function takeSeed(): number {
  firstSeed ??= crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  return firstSeed;
}

/** Hashes a text. Without the seed, a client cannot choose texts that have one hash. */
function hash(text: string, seed: number): number {
  let result = seed;
  for (let index = 0; index < text.length; index++) {
    result = Math.imul(result ^ text.charCodeAt(index), 0x5bd1e995);
    result ^= result >>> 15;
  }
  return result;
}
