/** A challenge that has just been created is rarely decided. */
const FIRST_MS = 1_000;
/** Users who respond do so within half a minute; only longer waits have a question then. */
const SECOND_MS = 30_000;
const LONG_WAIT_MS = 60_000;
/** Before the end of the wait: the response must arrive within it. */
const LAST_BEFORE_MS = 3_000;
const AGAIN_BEFORE_MS = 1_000;

/**
 * The questions of one wait to the service: after 1 s, for an outcome that was missed before the wait;
 * after 30 s, in a wait of a minute or more; 3 s before its end, and again 1 s before it without an
 * answer. A short wait asks earlier.
 */
export class Inquiry {
  readonly #ask: () => Promise<void>;
  readonly #timers: readonly NodeJS.Timeout[];
  #error: unknown;

  /** @param ask asks the service once; rejects if it has no answer. */
  constructor(timeoutMs: number, ask: () => Promise<void>) {
    this.#ask = ask;
    const askAt = (ms: number, isWanted = () => true) =>
      setTimeout(() => void (isWanted() && this.#run()), ms);
    this.#timers = [
      askAt(Math.min(FIRST_MS, 0.2 * timeoutMs)),
      ...(timeoutMs >= LONG_WAIT_MS ? [askAt(SECOND_MS)] : []),
      askAt(timeoutMs - Math.min(LAST_BEFORE_MS, 0.4 * timeoutMs)),
      askAt(
        timeoutMs - Math.min(AGAIN_BEFORE_MS, 0.2 * timeoutMs),
        () => this.#error !== undefined,
      ),
    ];
  }

  /** Why the last question has no answer; undefined if it has one. */
  get error(): unknown {
    return this.#error;
  }

  /** Asks no more. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #run(): Promise<void> {
    this.#error = new Error("The service did not respond before the end of the wait.");
    try {
      await this.#ask();
      this.#error = undefined;
    } catch (error) {
      this.#error = error;
    }
  }
}
