/** Random calls of the methods of a journal, over days that end, beside a model. */
import {
  JOURNAL_MS,
  MAX_KEPT_ENTRIES,
  MAX_SLICE_ENTRIES,
  type NewStoredEntry,
  type Storage,
  type TextSlice,
} from "../../../lib/durable/storage";
import { createRandom } from "../../support/attacker-texts";

const STEPS = 60;
const START_MS = 1_000_000_020_000;
const MINUTE_MS = 60_000;
const KINDS = ["accepted", "rejected", "step", "change"] as const;
const NAMES = ["dropped", "result:handled", "code:CLOSING"] as const;

type JournalMethod = "appendEntries" | "trimEntries" | "readCounts" | "scan";

/** The journal of an empty storage. */
export interface RealJournal {
  /** Calls a method at a time of the clock. */
  call<Method extends JournalMethod>(
    method: Method,
    args: Parameters<Storage[Method]>,
    nowMs: number,
  ): Promise<unknown>;
}

type Entry = NewStoredEntry & { atMs: number; number: number; turn: number };

/** Returns what a trim keeps: per kind, the newest of each share in turns. */
function trim(entries: readonly Entry[], nowMs: number): Entry[] {
  const turns = new Map<string, number>();
  const withTurns = entries.toReversed().map((entry) => {
    const share = `${entry.kind} ${entry.share}`;
    const turn = (turns.get(share) ?? 0) + 1;
    turns.set(share, turn);
    return Object.assign(entry, { turn });
  });
  const kept = KINDS.flatMap((kind) =>
    withTurns
      .filter((entry) => entry.kind === kind)
      .toSorted((a, b) => a.turn - b.turn || b.number - a.number)
      .slice(0, MAX_KEPT_ENTRIES),
  ).filter(({ atMs }) => atMs >= nowMs - JOURNAL_MS);
  const numbers = new Set(kept.map(({ number }) => number));
  return entries.filter(({ number }) => numbers.has(number));
}

/** Walks over a model and a real journal; throws at the first difference. */
export async function walkJournal(seed: number, { call }: RealJournal): Promise<void> {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]) => items[below(items.length)]!;
  let nowMs = START_MS;
  let entries: Entry[] = [];
  let count = 0;
  const counters = new Map<string, { minuteMs: number; name: string; count: number }>();
  /** How far a reader has come: the position of the storage, and the number of the entry. */
  let read: { position: string | undefined; number: number } = { position: undefined, number: 0 };

  function expectEqual(what: string, ...pair: unknown[]): void {
    const [found, expected] = pair.map((value) => JSON.stringify(value));
    if (found === expected) return;
    throw new Error(`walk ${seed}: ${what} at ${nowMs} is ${found}; the model: ${expected}`);
  }

  async function append(added: number): Promise<void> {
    // The flood of one sender beside a few entries of others.
    const flood = { kind: pick(KINDS), share: pick(["a", "b"]) };
    const news = Array.from({ length: added }, () => {
      const { kind, share } =
        random() < 0.9 ? flood : { kind: pick(KINDS), share: pick(["c", "d"]) };
      const entry = { kind, share, text: `[${++count}]` };
      entries.push({ ...entry, atMs: nowMs, number: count, turn: 0 });
      return entry;
    });
    const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    const counts = NAMES.slice(below(3)).map((name) => ({ minuteMs, name, count: 1 + below(9) }));
    for (const { name, count: more } of counts) {
      const key = `${minuteMs} ${name}`;
      counters.set(key, { minuteMs, name, count: (counters.get(key)?.count ?? 0) + more });
    }
    await call("appendEntries", [news, counts], nowMs);
  }

  async function readOn(): Promise<void> {
    const { texts } = (await call("scan", ["entry", read.position], nowMs)) as TextSlice;
    const next = entries.filter(({ number }) => number > read.number).slice(0, MAX_SLICE_ENTRIES);
    expectEqual(
      "scan",
      texts.map(({ text }) => text),
      next.map(({ text }) => text),
    );
    read = {
      position: texts.at(-1)?.id ?? read.position,
      number: next.at(-1)?.number ?? read.number,
    };
  }

  async function readCounts(): Promise<void> {
    const fromMs = pick([0, nowMs - 10 * MINUTE_MS]);
    const found = await call("readCounts", [fromMs], nowMs);
    const firstMs = Math.max(fromMs, nowMs - JOURNAL_MS);
    const expected = [...counters.values()]
      .filter(({ minuteMs }) => minuteMs >= firstMs)
      .toSorted((a, b) => a.minuteMs - b.minuteMs || (a.name < b.name ? -1 : 1));
    expectEqual("readCounts", found, expected);
  }

  for (let step = 0; step < STEPS; step++) {
    nowMs += random() < 0.2 ? below(JOURNAL_MS / 2) : below(MINUTE_MS);
    const draw = random();
    if (draw < 0.3) await append(1 + below(4));
    else if (draw < 0.4) await append(500 + below(1_000));
    else if (draw < 0.6) await readOn();
    else if (draw < 0.8) await readCounts();
    else {
      await call("trimEntries", [], nowMs);
      entries = trim(entries, nowMs);
    }
  }
  while (entries.some(({ number }) => number > read.number)) await readOn();
}
