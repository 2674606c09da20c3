import type { QueuedEvent } from "./event-queue";
import { FairMap, type FairEntry } from "../../kit/fair-map";
import { createPseudonym } from "../../kit/hash";
import { MinuteCounters } from "../../kit/minute-counters";
import { addMember } from "../../kit/text";
import type {
  Count,
  CounterName,
  EntrySlice,
  Journal,
  JournalEntry,
  NewEntry,
} from "../journal/journal";
import { readEntry, writeEntry } from "../journal/entry-text";

const DAY_MS = 24 * 60 * 60_000;
/** Of each kind. */
const MAX_ENTRIES = 2_000;
/** Of a minute: a receiver may have many accounts. */
const MAX_COUNTERS = 1_000;
const MAX_EVENT_BYTES = 8 * 2 ** 20;
const MAX_EVENT_CHARACTERS = 16_384;

/**
 * A journal in the memory of a process, for a receiver without a queue. It also keeps the events of
 * the last accepted requests, whose handlers may run again.
 */
export class MemoryJournal implements Journal {
  readonly isShared = false;
  readonly #secret = crypto.randomUUID();
  #position = 0;
  readonly #kinds = new Map<JournalEntry["kind"], FairLog<string>>();
  readonly #events = new FairLog<QueuedEvent>(MAX_ENTRIES, MAX_EVENT_BYTES);
  readonly #counters = new MinuteCounters<CounterName>(MAX_COUNTERS, DAY_MS, "dropped");

  constructor() {
    this.append({ kind: "start", atMs: Date.now(), share: "" });
  }

  append(entry: NewEntry): void {
    const { kind, share, identity } = entry;
    const text = writeEntry(entry);
    const named =
      identity === undefined
        ? text
        : addMember(text, "person", createPseudonym(this.#secret, identity));
    const log = this.#kinds.get(kind) ?? new FairLog(MAX_ENTRIES);
    this.#kinds.set(kind, log);
    log.add(share, String(++this.#position), named);
  }

  count(...names: CounterName[]): void {
    for (const name of names) this.#counters.add(name);
  }

  /** Keeps the event of an entry, unless it is large. */
  keep(id: string, queued: QueuedEvent): void {
    const characters = queued.event.params.flat().reduce((sum, text) => sum + text.length, 0);
    // The event has its parameters twice: as pairs, and parsed.
    const bytes = 4 * characters;
    if (characters <= MAX_EVENT_CHARACTERS)
      this.#events.add(queued.authenticatedAccount, id, queued, bytes);
  }

  /** Returns the event of an entry; undefined when it is not kept (any more). */
  find(id: string): QueuedEvent | undefined {
    return this.#events.get(id);
  }

  async read(after = "0"): Promise<EntrySlice> {
    const found = [...this.#kinds.values()]
      .flatMap((log) => log.list())
      .filter(([position]) => Number(position) > Number(after))
      .toSorted(([a], [b]) => Number(a) - Number(b));
    const entries = found.flatMap(([, text]) => readEntry(text) ?? []);
    return { entries, position: String(this.#position), hasMore: false };
  }

  async readCounts(fromMs?: number): Promise<readonly Count[]> {
    return this.#counters.list(fromMs);
  }

  async createPseudonym(identity: string): Promise<string> {
    return createPseudonym(this.#secret, identity);
  }
}

/** Values by key, for 24 hours. Beyond a bound, the oldest of the share with the most goes. */
class FairLog<Value> {
  readonly #values = new Map<string, { value: Value; atMs: number; entry: FairEntry<string> }>();
  readonly #keys: FairMap<string>;

  constructor(maxEntries: number, maxBytes = Infinity) {
    const onEvict = (key: string) => void this.#values.delete(key);
    this.#keys = new FairMap({ maxEntries, maxBytes, onEvict });
  }

  add(share: string, key: string, value: Value, bytes = 0): void {
    this.#removeExpired();
    const entry = this.#keys.add(share, key, key, { bytes });
    if (entry !== undefined) this.#values.set(key, { value, atMs: Date.now(), entry });
  }

  get(key: string): Value | undefined {
    this.#removeExpired();
    return this.#values.get(key)?.value;
  }

  list(): [key: string, value: Value][] {
    this.#removeExpired();
    return [...this.#values].map(([key, { value }]) => [key, value]);
  }

  #removeExpired(): void {
    const sinceMs = Date.now() - DAY_MS;
    for (const [key, { atMs, entry }] of this.#values) {
      if (atMs > sinceMs) return;
      this.#values.delete(key);
      this.#keys.remove(entry);
    }
  }
}
