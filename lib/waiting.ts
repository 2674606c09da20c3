import { onAbort } from "./abort-signal";
import { WebhookError } from "./errors";
import { sidSchema, type ChallengeEvent } from "./event";
import { checkOptions, MAX_TIMER_MS, wholeNumber, type OptionRules } from "./option-rules";

/** How long to wait for the outcome of a challenge. */
export interface WaitOptions {
  /** In milliseconds. @default 300_000, the 5 minutes after which a challenge expires */
  timeoutMs?: number;
  /** Ends the wait: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Who waits for which challenge's outcome. */
export interface Waiting {
  /**
   * Resolves with the event that {@link Waiting.resolve} is called with.
   *
   * @throws WebhookError `CHALLENGE_TIMEOUT`, `CLOSING`, or `OVERLOADED` when too many wait; the
   *   reason of `signal`.
   */
  wait(challengeSid: string, options: WaitOptions): Promise<ChallengeEvent>;
  /** Gives an outcome to everybody who waits for it. */
  resolve(event: ChallengeEvent): void;
  /** The challenges that anybody waits for. */
  listSids(): string[];
  /** Rejects everybody who waits, and whoever comes later. */
  close(): void;
}

/** Limits and observers of {@link createWaiting}. */
export interface WaitingOptions {
  /** How many may wait at a time. @default 10_000 */
  maxWaiting?: number;
  /** Told when somebody waits for a challenge that nobody waited for. */
  onFirst?: (challengeSid: string) => void;
  /** Told when nobody waits for a challenge any more. */
  onLast?: (challengeSid: string) => void;
}

const DEFAULT_TIMEOUT_MS = 300_000;
const WAIT_RULES: OptionRules<WaitOptions> = {
  timeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  signal: {
    accepts: (value) => value instanceof AbortSignal,
    expected: "an AbortSignal",
  },
};

const challengeSidSchema = sidSchema("YC");

/** Makes the list of those who wait in this process. */
export function createWaiting({
  maxWaiting = 10_000,
  onFirst,
  onLast,
}: WaitingOptions = {}): Waiting {
  const waitersBySid = new Map<string, Set<Waiter>>();
  let count = 0;
  let closed = false;

  function enter(sid: string, waiter: Waiter): void {
    count++;
    const waiters = waitersBySid.get(sid);
    if (waiters !== undefined) {
      waiters.add(waiter);
      return;
    }
    waitersBySid.set(sid, new Set([waiter]));
    onFirst?.(sid);
  }

  function leave(sid: string, waiter: Waiter): void {
    count--;
    const waiters = waitersBySid.get(sid);
    waiters?.delete(waiter);
    if (waiters?.size !== 0) return;
    waitersBySid.delete(sid);
    onLast?.(sid);
  }

  return {
    async wait(challengeSid, { timeoutMs = DEFAULT_TIMEOUT_MS, signal }) {
      signal?.throwIfAborted();
      if (closed) throw closing();
      if (count >= maxWaiting) {
        throw new WebhookError("OVERLOADED", `${maxWaiting} calls wait for challenges already.`);
      }
      const waiter = createWaiter();
      const timer = setTimeout(() => {
        waiter.reject(
          new WebhookError("CHALLENGE_TIMEOUT", `No outcome came within ${timeoutMs} ms.`),
        );
      }, timeoutMs);
      const stopListening = signal && onAbort(signal, () => waiter.reject(signal.reason));
      enter(challengeSid, waiter);
      try {
        return await waiter.promise;
      } finally {
        leave(challengeSid, waiter);
        clearTimeout(timer);
        stopListening?.();
      }
    },
    resolve(event) {
      for (const waiter of waitersBySid.get(event.challenge_sid) ?? []) waiter.resolve(event);
    },
    listSids: () => [...waitersBySid.keys()],
    close() {
      closed = true;
      for (const waiters of waitersBySid.values()) {
        for (const waiter of waiters) waiter.reject(closing());
      }
    },
  };
}

/**
 * Checks what waitForChallenge is called with.
 *
 * @throws TypeError for what is not a challenge SID or not a timeout.
 */
export function assertWait(challengeSid: unknown, options: WaitOptions): void {
  if (!challengeSidSchema.safeParse(challengeSid).success) {
    throw new TypeError(
      "waitForChallenge: challengeSid must be YC and 32 hexadecimal digits: the sid that the service gave the challenge.",
    );
  }
  checkOptions("waitForChallenge", options, WAIT_RULES);
}

interface Waiter {
  promise: Promise<ChallengeEvent>;
  resolve: (event: ChallengeEvent) => void;
  reject: (reason: unknown) => void;
}

function createWaiter(): Waiter {
  let resolve!: Waiter["resolve"];
  let reject!: Waiter["reject"];
  const promise = new Promise<ChallengeEvent>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

function closing(): WebhookError {
  return new WebhookError("CLOSING", "The receiver is closed; no outcome will come any more.");
}
