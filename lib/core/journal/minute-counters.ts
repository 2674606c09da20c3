import type { Count, CounterName } from "./journal";

const MINUTE_MS = 60_000;

/** Counters of each minute, in memory: at most `maxNames` a minute, for `maxMs`. */
export class MinuteCounters {
  /** By the start of their minute, the oldest first. */
  readonly #minutes = new Map<number, Map<CounterName, number>>();

  constructor(
    readonly maxNames: number,
    readonly maxMs: number,
  ) {}

  /** Adds to a counter of the current minute, or to that of what was dropped. */
  add(name: CounterName, count = 1): void {
    const counters = this.#findCurrent();
    const isNew = counters.size >= this.maxNames && !counters.has(name);
    const counted = isNew ? "dropped" : name;
    counters.set(counted, (counters.get(counted) ?? 0) + count);
  }

  /** Lists those since a minute, the oldest first. */
  list(fromMs = 0): Count[] {
    return [...this.#minutes].flatMap(([minuteMs, counters]) =>
      minuteMs < fromMs ? [] : [...counters].map(([name, count]) => ({ minuteMs, name, count })),
    );
  }

  /** Lists all, and starts anew. The names of the current minute stay: its bound is for all of it. */
  take(): Count[] {
    const taken = this.list().filter(({ count }) => count > 0);
    const current = this.#findCurrent();
    for (const [minuteMs, counters] of this.#minutes) {
      if (counters !== current) this.#minutes.delete(minuteMs);
    }
    for (const name of current.keys()) current.set(name, 0);
    return taken;
  }

  #findCurrent(): Map<CounterName, number> {
    const minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const found = this.#minutes.get(minuteMs);
    if (found !== undefined) return found;
    for (const oldestMs of this.#minutes.keys()) {
      if (oldestMs > minuteMs - this.maxMs) break;
      this.#minutes.delete(oldestMs);
    }
    const counters = new Map<CounterName, number>();
    this.#minutes.set(minuteMs, counters);
    return counters;
  }
}
