import {
  inspectReceiver,
  MemoryJournal,
  type Count,
  type Journal,
  type JournalEntry,
  type QueuedEvent,
} from "../../core/door";
import type { PushWebhooks } from "../../index";
import { groupBy } from "../../kit/group-by";
import type { ConsoleQueue } from "./queue-view";
import { groupSteps, listRows, type CanResend } from "./request-row";

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
/** However many pages are open. */
const READ_EVERY_MS = 1_000;
/** An entry that the store has removed since is shown no longer than this. */
const READ_ALL_EVERY_MS = 10 * MINUTE_MS;
/** Of each kind, as the store keeps them. */
const MAX_ENTRIES = 2_000;
/** Processes add to the counters of a minute that has just ended. */
const LATE_MS = 2 * MINUTE_MS;
const MAX_CHANGES = 200;

/** Returns the history of a receiver or a queue; without a queue it is in memory, and begins now. */
export function openJournal(receiver?: PushWebhooks, queue?: ConsoleQueue): Journal {
  const inspection = receiver && inspectReceiver(receiver);
  return inspection?.openJournal() ?? queue?.journal ?? new MemoryJournal();
}

/** Returns the event of a request, if this process keeps it. */
export function findKept(journal: Journal, id: string): QueuedEvent | undefined {
  return journal instanceof MemoryJournal ? journal.find(id) : undefined;
}

/** What a journal had when it was read last. */
export type History = ReturnType<typeof joinEntries>;

/** Reads a journal for the pages that are open, and joins its entries. */
export class JournalView {
  readonly #journal: Journal;
  readonly #canResend: CanResend;
  #entries: JournalEntry[] = [];
  #position: string | undefined;
  /** By minute and name. */
  readonly #counts = new Map<string, Count>();
  #lastMinuteMs = 0;
  #readAllAtMs = 0;
  #readAtMs = -Infinity;
  #reading: Promise<History> | undefined;

  constructor(journal: Journal, hasQueue: boolean) {
    this.#journal = journal;
    this.#canResend = (id, state) =>
      findKept(journal, id) !== undefined || (hasQueue && state === "dead");
  }

  /**
   * Returns the history, which is at most a second old.
   *
   * @throws WebhookError of the store.
   */
  read(): Promise<History> {
    const nowMs = performance.now();
    const everyMs = this.#journal.isShared ? READ_EVERY_MS : 0;
    if (this.#reading === undefined || nowMs - this.#readAtMs >= everyMs) {
      this.#readAtMs = Infinity;
      const reading = this.#readNew();
      this.#reading = reading;
      reading.then(
        () => (this.#readAtMs = nowMs),
        () => (this.#reading = undefined),
      );
    }
    return this.#reading;
  }

  async #readNew(): Promise<History> {
    const isKnown =
      this.#position !== undefined && performance.now() - this.#readAllAtMs < READ_ALL_EVERY_MS;
    const added = isKnown ? await this.#readEntries(this.#position) : [];
    if (isKnown && !added.some(isErasure)) this.#entries.push(...added);
    else await this.#readAll();
    for (const count of await this.#journal.readCounts(this.#lastMinuteMs - LATE_MS)) {
      this.#counts.set(`${count.minuteMs} ${count.name}`, count);
      this.#lastMinuteMs = Math.max(this.#lastMinuteMs, count.minuteMs);
    }
    return this.#join(Date.now() - DAY_MS);
  }

  async #readAll(): Promise<void> {
    // If it fails, the next read is of all, too.
    this.#position = undefined;
    this.#readAllAtMs = performance.now();
    this.#entries = await this.#readEntries();
  }

  async #readEntries(after?: string): Promise<JournalEntry[]> {
    const all: JournalEntry[] = [];
    let from = after;
    for (;;) {
      const { entries, position, hasMore } = await this.#journal.read(from);
      all.push(...entries);
      from = position;
      if (!hasMore) break;
    }
    this.#position = from;
    return all;
  }

  #join(sinceMs: number): History {
    this.#entries = trimEntries(this.#entries.filter(({ atMs }) => atMs >= sinceMs));
    for (const [key, { minuteMs }] of this.#counts) {
      if (minuteMs < sinceMs) this.#counts.delete(key);
    }
    return joinEntries(this.#entries, [...this.#counts.values()], this.#canResend);
  }
}

function joinEntries(
  entries: readonly JournalEntry[],
  added: readonly Count[],
  canResend: CanResend,
) {
  const steps = groupSteps(entries);
  const counts = added.toSorted((a, b) => a.minuteMs - b.minuteMs);
  return {
    /** The newest first. */
    rows: listRows(entries, steps, canResend),
    steps,
    /** The last writes of people, the newest first. */
    changes: entries
      .filter((entry) => entry.kind === "change")
      .toReversed()
      .slice(0, MAX_CHANGES),
    builds: listBuilds(entries),
    counts,
    /** 24 hours ago, or when its first process started. */
    sinceMs: Math.min(entries[0]?.atMs ?? Infinity, counts[0]?.minuteMs ?? Infinity, Date.now()),
  };
}

/**
 * Removes what the store removes meanwhile, as a process that has just started reads nothing else:
 * beyond the bound, the oldest of the share with the most.
 */
function trimEntries(entries: JournalEntry[]): JournalEntry[] {
  const removed = new Set<JournalEntry>();
  for (const own of groupBy(entries, ({ kind }) => kind).values()) {
    if (own.length <= MAX_ENTRIES) continue;
    const turns = new Map<unknown, number>();
    const ranked = own.toReversed().map((entry) => {
      const turn = (turns.get(entry.share) ?? 0) + 1;
      turns.set(entry.share, turn);
      return { entry, turn };
    });
    const over = ranked.toSorted((a, b) => a.turn - b.turn).slice(MAX_ENTRIES);
    for (const { entry } of over) removed.add(entry);
  }
  return entries.filter((entry) => !removed.has(entry));
}

/** Whether entries that were read before are removed. */
function isErasure(entry: JournalEntry): boolean {
  return entry.kind === "change" && entry.action === "user-data.erase";
}

/** Lists the first process of each build, the oldest first. */
function listBuilds(entries: readonly JournalEntry[]) {
  const starts = entries.filter(({ kind }) => kind === "start").toSorted((a, b) => a.atMs - b.atMs);
  return starts.filter(({ build }, index) => index === 0 || build !== starts[index - 1]?.build);
}
