import { type Count, type Journal, type JournalEntry, readEntry, writeEntry } from "../core/door";
import { copyText } from "../kit/copied-text";
import { createPseudonym } from "../kit/hash";
import { MinuteCounters } from "../kit/minute-counters";
import { addMember } from "../kit/text";
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
/** After so many entries, or so long, what is over the bounds of the store is removed. */
const TRIM_AFTER = { entries: 1_000, ms: MINUTE_MS };

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
  /** Of the last hour: longer outages are rare. */
  readonly #counters = new MinuteCounters<Count["name"]>(MAX_COUNTERS, 60 * MINUTE_MS, "dropped");
  #hasNew = false;
  readonly #trims = setInterval(() => void this.#trim(), TRIM_AFTER.ms).unref();
  /** The key of the pseudonyms; undefined until the store was read. */
  #secret: string | undefined;
  #hasStarted = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #flushedAtMs = Number.NEGATIVE_INFINITY;
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
    if (!entries.add(entry)) this.#counters.add("dropped");
    this.#schedule();
  }

  isFull(kind: JournalEntry["kind"], share: string): boolean {
    return this.#entries.get(boundOf(kind))?.isFull(share) === true;
  }

  count(...names: Count["name"][]): void {
    for (const name of names) this.#counters.add(name);
    this.#schedule();
  }

  async read(after = "") {
    const { texts } = await this.#run(() => this.#storage.scan("entry", after || undefined));
    return {
      entries: texts.flatMap(({ text }) => readEntry(text) ?? []),
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
        if (this.#hasNew) this.#schedule();
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
    this.#hasNew = true;
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#isClosed) return;
    const pauseMs = Math.max(0, this.#flushedAtMs + FLUSH_MS - performance.now());
    this.#timer = setTimeout(() => void this.flush(), pauseMs).unref();
  }

  async #fetchSecret(): Promise<string> {
    return (this.#secret ??= await this.#storage.secret(crypto.randomUUID()));
  }

  async #write(): Promise<void> {
    if (!this.#hasNew) return;
    const isUsable = await this.#isUsable();
    // Also during an outage: an identity is not kept for longer than the pause.
    for (const entries of this.#entries.values()) entries.nameUsers(this.#secret);
    if (!isUsable) return;
    this.#hasNew = false;
    const entries = [...this.#entries].flatMap(([kind, added]) => added.toStored(kind));
    this.#entries.clear();
    const counts = this.#counters.take();
    try {
      await this.#storage.appendEntries(entries, counts);
      this.#untrimmed += entries.length;
      if (this.#untrimmed >= TRIM_AFTER.entries) await this.#trim();
    } catch {
      // Only the reply may have been lost: to write them again could double them.
      this.#counters.add("dropped", entries.length);
      for (const { name, count } of counts) if (name === "dropped") this.#counters.add(name, count);
      this.#hasNew = true;
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

/** An entry that is not stored yet. Its texts are copies. */
interface NewText {
  readonly atMs: number;
  readonly share: string;
  text: string;
  identity: string | undefined;
}

/**
 * The new entries of a kind. At the bound, a share with less than an equal part takes the place of the
 * oldest entry of the share with the most.
 */
class NewEntries {
  readonly #entries: NewText[] = [];
  /** How many entries each share has. */
  readonly #shares = new Map<string, number>();

  /** Whether an entry of a share would be dropped. */
  isFull(share: string): boolean {
    if (this.#entries.length < MAX_ENTRIES) return false;
    const own = this.#shares.get(share);
    const shares = this.#shares.size + (own === undefined ? 1 : 0);
    return ((own ?? 0) + 1) * shares > MAX_ENTRIES;
  }

  /** Adds an entry; returns whether nothing was dropped, it or another one. */
  add(entry: NewEntry): boolean {
    if (this.isFull(entry.share)) return false;
    const { atMs } = entry;
    const share = copyText(entry.share);
    const identity = entry.identity && copyText(entry.identity);
    this.#entries.push({ atMs, share, text: writeEntry(entry), identity });
    this.#shares.set(share, (this.#shares.get(share) ?? 0) + 1);
    if (this.#entries.length <= MAX_ENTRIES) return true;
    // It has more than an equal part.
    const [[most] = [share]] = [...this.#shares].toSorted(([, a], [, b]) => b - a);
    this.#shares.set(most, (this.#shares.get(most) ?? 0) - 1);
    const oldest = this.#entries.findIndex((added) => added.share === most);
    this.#entries.splice(oldest, 1);
    return false;
  }

  /** Replaces identities by pseudonyms; without a secret, by nothing. */
  nameUsers(secret: string | undefined): void {
    for (const added of this.#entries) {
      const { text, identity } = added;
      if (identity && secret)
        added.text = addMember(text, "person", createPseudonym(secret, identity));
      added.identity = undefined;
    }
  }

  /** A step may be noted after one that followed it. */
  toStored(kind: EntryKind): NewStoredEntry[] {
    const entries = this.#entries.toSorted((a, b) => a.atMs - b.atMs);
    return entries.map(({ share, text }) => ({ kind, share, text }));
  }
}

/** Returns the kind whose bound an entry has. */
function boundOf(kind: JournalEntry["kind"]): EntryKind {
  return kind === "start" ? "change" : kind;
}
