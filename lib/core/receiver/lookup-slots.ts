import { WebhookError } from "../errors/webhook-error";

interface Waiting {
  lapsesAtMs: number;
  start: () => void;
  reject: (reason: unknown) => void;
}

/** How long a request waits for its tokens. */
export const LOOKUP_MS = 8_000;
/** How many lookups run at a time. */
const SLOTS = 50;
const MAX_WAITING = 1_000;

/**
 * Slots of lookups, which claimed accounts share: a free slot goes to the account that has the fewest, and
 * there to the newest lookup, because under overload the oldest ones are about to time out. So an
 * account that invents services delays its own lookups only.
 */
export class LookupSlots {
  /** The oldest of an account first; the account of the newest lookup last. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #taken = new Map<string, number>();
  #takenCount = 0;
  #waitingCount = 0;

  /**
   * Resolves when the account has a slot.
   *
   * @throws WebhookError `OVERLOADED` when too many lookups wait, for the oldest one of the account that
   *   has the most.
   */
  async take(accountSid: string): Promise<void> {
    if (this.#takenCount < SLOTS) return this.#give(accountSid);
    await new Promise<void>((start, reject) => {
      const own = this.#waiting.get(accountSid) ?? [];
      own.push({ lapsesAtMs: performance.now() + LOOKUP_MS, start, reject });
      this.#waiting.delete(accountSid);
      this.#waiting.set(accountSid, own);
      this.#waitingCount++;
      if (this.#waitingCount > MAX_WAITING) this.#rejectOldest();
    });
  }

  /** Returns the slot of an account, which the next lookup takes. */
  release(accountSid: string): void {
    this.#takenCount--;
    const left = (this.#taken.get(accountSid) ?? 0) - 1;
    if (left > 0) this.#taken.set(accountSid, left);
    else this.#taken.delete(accountSid);
    for (;;) {
      const next = this.#findNext();
      const newest = this.#waiting.get(next ?? "")?.at(-1);
      if (next === undefined || newest === undefined) return;
      const isLapsed = performance.now() >= newest.lapsesAtMs;
      // The others of this account are older: their requests were rejected, too.
      this.#remove(next, isLapsed ? this.#waiting.get(next)?.length : 1);
      if (isLapsed) continue;
      this.#give(next);
      newest.start();
      return;
    }
  }

  #give(accountSid: string): void {
    this.#takenCount++;
    this.#taken.set(accountSid, (this.#taken.get(accountSid) ?? 0) + 1);
  }

  #findNext(): string | undefined {
    let [next, fewest] = [undefined as string | undefined, Number.POSITIVE_INFINITY];
    for (const accountSid of this.#waiting.keys()) {
      const taken = this.#taken.get(accountSid) ?? 0;
      if (taken <= fewest) [next, fewest] = [accountSid, taken];
    }
    return next;
  }

  #remove(accountSid: string, count = 0): void {
    const waiting = this.#waiting.get(accountSid) ?? [];
    waiting.length -= count;
    this.#waitingCount -= count;
    if (waiting.length === 0) this.#waiting.delete(accountSid);
  }

  #rejectOldest(): void {
    let [largest, most] = ["", 0];
    for (const [accountSid, { length }] of this.#waiting) {
      if (length > most) [largest, most] = [accountSid, length];
    }
    const oldest = this.#waiting.get(largest)?.shift();
    this.#remove(largest);
    this.#waitingCount--;
    const message = `More than ${MAX_WAITING} lookups of auth tokens wait.`;
    oldest?.reject(new WebhookError("OVERLOADED", message));
  }
}
