import { hostname } from "node:os";
import {
  type Count,
  createPseudonym,
  type Journal,
  type JournalEntry,
  type QueueUser,
} from "../core/door";
import { parseJson, toAsciiJson } from "../kit/text";
import type { Availability } from "./availability";
import { type EntryKind, MAX_SLICE_ENTRIES, type NewStoredEntry, type Storage } from "./storage";

type NewEntry = Parameters<Journal["append"]>[0];

const MINUTE_MS = 60_000;
const FLUSH_MS = 1_000;
/** How many entries of a kind, and how many counters, a flush writes. */
const MAX_FLUSHED = { entries: 200, counters: 500 };
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
  /** By minute and name. */
  readonly #counters = new Map<string, Omit<Count, "count"> & { count: number }>();
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
    const kind = entry.kind === "start" ? "change" : entry.kind;
    const entries = this.#entries.get(kind) ?? new NewEntries();
    this.#entries.set(kind, entries);
    if (!entries.add(entry)) this.#dropped++;
    this.#schedule();
  }

  count(...names: Count["name"][]): void {
    const minuteMs = currentMinuteMs();
    for (const name of names) {
      const key = `${minuteMs} ${name}`;
      const counter = this.#counters.get(key);
      if (counter !== undefined) counter.count++;
      else if (this.#counters.size >= MAX_FLUSHED.counters) this.#dropped++;
      else this.#counters.set(key, { minuteMs, name, count: 1 });
    }
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

  #schedule(): void {
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#isClosed) return;
    const pauseMs = Math.max(0, this.#flushedAtMs + FLUSH_MS - performance.now());
    this.#timer = setTimeout(() => void this.flush(), pauseMs).unref();
  }

  async #fetchSecret(): Promise<string> {
    return (this.#secret ??= await this.#storage.secret(crypto.randomUUID()));
  }

  async #write(): Promise<void> {
    const isUsable = await this.#isUsable();
    // Also during an outage: an identity is not kept for longer than the pause.
    for (const entries of this.#entries.values()) entries.nameUsers(this.#secret);
    if (!isUsable) return;
    const entries = [...this.#entries].flatMap(([kind, added]) => added.toStored(kind));
    const counts: Count[] = [...this.#counters.values()];
    const dropped = this.#dropped;
    if (dropped > 0) counts.push({ minuteMs: currentMinuteMs(), name: "dropped", count: dropped });
    this.#entries.clear();
    this.#counters.clear();
    this.#dropped = 0;
    if (counts.length + entries.length === 0) return;
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

/** An entry that is not written; its user has a name at last. */
type PendingEntry = NewEntry & { readonly person?: string | undefined };

/** The new entries of a kind. Beyond the bound, the oldest of the share with the most go. */
class NewEntries {
  readonly #shares = new Map<string, PendingEntry[]>();
  #count = 0;

  /** Adds an entry; returns whether none was dropped for it. */
  add(entry: NewEntry): boolean {
    const { share } = entry;
    const own = this.#shares.get(share) ?? [];
    this.#shares.set(share, own);
    own.push(entry);
    if (this.#count < MAX_FLUSHED.entries) {
      this.#count++;
      return true;
    }
    let [name, most] = [share, own];
    for (const [other, entries] of this.#shares) {
      if (entries.length > most.length) [name, most] = [other, entries];
    }
    most.shift();
    if (most.length === 0) this.#shares.delete(name);
    return false;
  }

  /** Replaces identities by pseudonyms; without a secret, by nothing. */
  nameUsers(secret: string | undefined): void {
    for (const entries of this.#shares.values()) {
      for (const [index, { identity, ...entry }] of entries.entries()) {
        if (identity === undefined) continue;
        entries[index] = { ...entry, person: secret && createPseudonym(secret, identity) };
      }
    }
  }

  toStored(kind: EntryKind): NewStoredEntry[] {
    const entries = [...this.#shares.values()].flat().toSorted((a, b) => a.atMs - b.atMs);
    return entries.map(({ share, ...entry }) => {
      const signed = { ...entry, process: PROCESS, build: process.env.PUSH_BUILD };
      return { kind, share, text: toAsciiJson(signed) };
    });
  }
}

function currentMinuteMs(): number {
  return Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
}

/** Other programs may write to the store. */
function isEntry(value: unknown): value is JournalEntry {
  const { kind, atMs } = Object(value) as Record<string, unknown>;
  return typeof kind === "string" && typeof atMs === "number";
}
