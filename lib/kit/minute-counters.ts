const MINUTE_MS = 60_000;

/** What was counted under a name in a minute. */
interface MinuteCount<Name> {
  minuteMs: number;
  name: Name;
  count: number;
}

/** Counters of each minute, in memory: at most `maxNames` a minute, for `maxMs`; `rest` counts the others. */
export class MinuteCounters<Name extends string> {
  /** By the start of their minute, the oldest first. */
  readonly #minutes = new Map<number, Map<Name, number>>();

  constructor(
    readonly maxNames: number,
    readonly maxMs: number,
    readonly rest: Name,
  ) {}

  /** Adds to a counter of the current minute, or to `rest`. */
  add(name: Name, count = 1): void {
    const counters = this.#findCurrent();
    const isNew = counters.size >= this.maxNames && !counters.has(name);
    const counted = isNew ? this.rest : name;
    counters.set(counted, (counters.get(counted) ?? 0) + count);
  }

  /** Lists those since a minute, the oldest first. */
  list(fromMs = 0): MinuteCount<Name>[] {
    return [...this.#minutes].flatMap(([minuteMs, counters]) =>
      minuteMs < fromMs ? [] : [...counters].map(([name, count]) => ({ minuteMs, name, count })),
    );
  }

  /** Lists all, and starts anew. The names of the current minute stay: its bound is for all of it. */
  take(): MinuteCount<Name>[] {
    const taken = this.list().filter(({ count }) => count > 0);
    const current = this.#findCurrent();
    for (const [minuteMs, counters] of this.#minutes) {
      if (counters !== current) this.#minutes.delete(minuteMs);
    }
    for (const name of current.keys()) current.set(name, 0);
    return taken;
  }

  #findCurrent(): Map<Name, number> {
    const minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const found = this.#minutes.get(minuteMs);
    if (found !== undefined) return found;
    for (const oldestMs of this.#minutes.keys()) {
      if (oldestMs > minuteMs - this.maxMs) break;
      this.#minutes.delete(oldestMs);
    }
    const counters = new Map<Name, number>();
    this.#minutes.set(minuteMs, counters);
    return counters;
  }
}
