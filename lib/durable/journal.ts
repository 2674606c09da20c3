import { hostname } from "node:os";
import type { Count, Journal, JournalEntry } from "../core/door";
import { createPseudonym } from "../kit/hash";
import { parseJson, toAsciiJson } from "../kit/text";
import type { Availability } from "./availability";
import type { QueueUser } from "./event-operations";
import { type EntryKind, MAX_SLICE_ENTRIES, type NewStoredEntry, type Storage } from "./storage";

type NewEntry = Parameters<Journal["append"]>[0];

const MINUTE_MS = 60_000;
const FLUSH_MS = 1_000;
/** How many entries of a kind a flush writes. */
const MAX_ENTRIES = 200;
/** How many counters a minute has: a receiver may have many accounts. */
const MAX_COUNTERS = 100;
/** How many minutes have counters that are not written: longer outages are rare. */
const MAX_MINUTES = 60;
/** After so many entries, or so long, what is over the bounds of the store is removed. */
const TRIM_AFTER = { entries: 500, ms: MINUTE_MS };
const PROCESS = `${process.pid} on ${hostname()}`;

/**
 * The journal of a queue, in its store. What is new is in memory, and written once a second, beside the
 * events: a store that is slow or down delays nothing. What does not fit, or fails, is dropped and counted.
 */
export class StoredJournal implements Journal {
  readonly isShared = true;
  readonly #storage: Storage;
  readonly #availability: Availability;
  /** Runs a read, and again while the store fails. */
  readonly #run: <Value>(read: () => Promise<Value>) => Promise<Value>;
  readonly #entries = new Map<EntryKind, NewEntries>();
  /** By the start of their minute. */
  readonly #counters = new Map<number, Map<Count["name"], number>>();
  /** The names that were counted in the current minute, which starts then. */
  #counted = { minuteMs: 0, names: new Set<Count["name"]>() };
  readonly #trims = setInterval(() => void this.#trim(), TRIM_AFTER.ms).unref();
  /** The key of the pseudonyms; undefined until the store was read. */
  #secret: string | undefined;
  #hasStarted = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #flushedAtMs = Number.NEGATIVE_INFINITY;
  #dropped = 0;
  #untrimmed = 0;

  constructor(
    storage: Storage,
    availability: Availability,
    run: <Value>(read: () => Promise<Value>) => Promise<Value>,
  ) {
    this.#storage = storage;
    this.#availability = availability;
    this.#run = run;
  }

  append(entry: NewEntry): void {
    if (this.#isClosed) return;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      this.append({ kind: "start", atMs: entry.atMs, share: "" });
    }
    const kind = boundOf(entry.kind);
    const entries = this.#entries.get(kind) ?? new NewEntries();
    this.#entries.set(kind, entries);
    if (!entries.add(entry)) this.#dropped++;
    this.#schedule();
  }

  isFull(kind: JournalEntry["kind"], share: string): boolean {
    return this.#entries.get(boundOf(kind))?.isFull(share) === true;
  }

  count(...names: Count["name"][]): void {
    const minuteMs = currentMinuteMs();
    if (this.#counted.minuteMs !== minuteMs) this.#counted = { minuteMs, names: new Set() };
    const { names: counted } = this.#counted;
    for (const name of names) {
      if (counted.size < MAX_COUNTERS) counted.add(name);
      if (counted.has(name)) this.#add(minuteMs, name, 1);
      else this.#dropped++;
    }
    const [oldestMs = minuteMs] = this.#counters.keys();
    if (this.#counters.size > MAX_MINUTES) this.#counters.delete(oldestMs);
    this.#schedule();
  }

  async read(after = "") {
    const { texts } = await this.#run(() => this.#storage.scan("entry", after || undefined));
    return {
      entries: texts.map(({ text }) => parseJson(text)).filter(isEntry),
      position: texts.at(-1)?.id ?? after,
      hasMore: texts.length >= MAX_SLICE_ENTRIES,
    };
  }

  readCounts(fromMs = 0): Promise<readonly Count[]> {
    return this.#run(() => this.#storage.readCounts(fromMs));
  }

  async createPseudonym(identity: string): Promise<string> {
    return createPseudonym(await this.#run(() => this.#fetchSecret()), identity);
  }

  /** Reads the secret before it is needed. */
  prepare(): void {
    this.#fetchSecret().catch(() => {});
  }

  /** Names a user of an account, by which users are counted; undefined until the secret is read. */
  nameUser({ accountSid, entityIdentity }: QueueUser): string | undefined {
    if (this.#secret === undefined) return undefined;
    return createPseudonym(this.#secret, `${accountSid} ${entityIdentity}`);
  }

  /** Writes what is new, unless the store cannot be used; never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const flushing = Promise.resolve(this.#flushing)
      .then(() => this.#write())
      .finally(() => {
        this.#flushedAtMs = performance.now();
        if (this.#flushing === flushing) this.#flushing = undefined;
        if (this.#counters.size > 0 || this.#entries.size > 0) this.#schedule();
      });
    this.#flushing = flushing;
    return flushing;
  }

  /** Takes nothing more, and writes what is new. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#trims);
    return this.flush();
  }

  #add(minuteMs: number, name: Count["name"], count: number): void {
    const counters = this.#counters.get(minuteMs) ?? new Map<Count["name"], number>();
    this.#counters.set(minuteMs, counters);
    counters.set(name, (counters.get(name) ?? 0) + count);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#isClosed) return;
    const pauseMs = Math.max(0, this.#flushedAtMs + FLUSH_MS - performance.now());
    this.#timer = setTimeout(() => void this.flush(), pauseMs).unref();
  }

  async #fetchSecret(): Promise<string> {
    return (this.#secret ??= await this.#storage.secret(crypto.randomUUID()));
  }

  async #write(): Promise<void> {
    if (this.#entries.size + this.#counters.size + this.#dropped === 0) return;
    const isUsable = await this.#isUsable();
    // Also during an outage: an identity is not kept for longer than the pause.
    for (const entries of this.#entries.values()) entries.nameUsers(this.#secret);
    if (!isUsable) return;
    const dropped = this.#dropped;
    // A name is once in the counts: a writer counts what it drops, too.
    if (dropped > 0) this.#add(currentMinuteMs(), "dropped", dropped);
    const entries = [...this.#entries].flatMap(([kind, added]) => added.toStored(kind));
    const counts: Count[] = [...this.#counters].flatMap(([minuteMs, counters]) =>
      Array.from(counters, ([name, count]) => ({ minuteMs, name, count })),
    );
    this.#entries.clear();
    this.#counters.clear();
    this.#dropped = 0;
    try {
      await this.#storage.appendEntries(entries, counts);
      this.#untrimmed += entries.length;
      if (this.#untrimmed >= TRIM_AFTER.entries) await this.#trim();
    } catch {
      // Only the reply may have been lost: to write them again could double them.
      this.#dropped += dropped + entries.length;
    }
  }

  /** Whether the store can be used, and its secret is known. */
  async #isUsable(): Promise<boolean> {
    try {
      this.#availability.assertOpen();
      await this.#fetchSecret();
      return true;
    } catch {
      return false;
    }
  }

  /** Another trim makes up for one that fails. */
  async #trim(): Promise<void> {
    try {
      this.#availability.assertOpen();
      this.#untrimmed = 0;
      await this.#storage.trimEntries();
    } catch {
      // The store is down; another operation reports it.
    }
  }
}

/**
 * The new entries of a kind. At the bound, a share with less than an equal part takes the place of the
 * oldest entry of the share with the most.
 */
class NewEntries {
  readonly #shares = new Map<string, NewEntry[]>();
  #count = 0;

  /** Whether an entry of a share would be dropped. */
  isFull(share: string): boolean {
    if (this.#count < MAX_ENTRIES) return false;
    const own = this.#shares.get(share)?.length;
    const shares = this.#shares.size + (own === undefined ? 1 : 0);
    return ((own ?? 0) + 1) * shares > MAX_ENTRIES;
  }

  /** Adds an entry; returns whether nothing was dropped, it or another one. */
  add(entry: NewEntry): boolean {
    if (this.isFull(entry.share)) return false;
    const own = this.#shares.get(entry.share) ?? [];
    this.#shares.set(entry.share, own);
    own.push(entry);
    if (this.#count < MAX_ENTRIES) {
      this.#count++;
      return true;
    }
    let most = own;
    for (const entries of this.#shares.values()) if (entries.length > most.length) most = entries;
    // It has more than an equal part.
    most.shift();
    return false;
  }

  /** Replaces identities by pseudonyms; without a secret, by nothing. */
  nameUsers(secret: string | undefined): void {
    for (const entry of [...this.#shares.values()].flat()) {
      const { identity } = entry;
      if (identity === undefined) continue;
      const person = secret && createPseudonym(secret, identity);
      // A copy of an entry by a spread takes 20 µs.
      Object.assign(entry, { identity: undefined, person });
    }
  }

  toStored(kind: EntryKind): NewStoredEntry[] {
    const entries = [...this.#shares.values()].flat().toSorted((a, b) => a.atMs - b.atMs);
    const signature = { share: undefined, process: PROCESS, build: process.env.PUSH_BUILD };
    return entries.map((entry) => {
      const { share } = entry;
      return { kind, share, text: toAsciiJson(Object.assign(entry, signature)) };
    });
  }
}

/** Returns the kind whose bound an entry has. */
function boundOf(kind: JournalEntry["kind"]): EntryKind {
  return kind === "start" ? "change" : kind;
}

function currentMinuteMs(): number {
  return Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
}

/** Other programs may write to the store. */
function isEntry(value: unknown): value is JournalEntry {
  const { kind, atMs } = Object(value) as Record<string, unknown>;
  return typeof kind === "string" && typeof atMs === "number";
}
