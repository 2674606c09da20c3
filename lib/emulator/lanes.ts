/**
 * One call's place in the order of its webhook: calls are sent in the order of their events, yet
 * none waits for the answer to another.
 */
export interface Turn {
  /** Resolves when every earlier call is sent, or has given its place away. */
  arrived: Promise<void>;
  /** Lets the next one go. */
  pass(): void;
  /** Says that the delivery is finished: those that it overtook go on. */
  finish(): void;
  /** Resolves when a later call is finished, when none will come, or after `ms`. */
  overtaken(ms: number, signal: AbortSignal): Promise<void>;
}

/** The order of calls, one lane for each webhook. */
export interface Lanes {
  enter(lane: string): Turn;
  /**
   * Releases the deliveries that wait, now or later, to be overtaken and have none behind them.
   *
   * @returns the end of it.
   */
  letGo(): () => void;
}

interface Entry {
  lane: string;
  number: number;
  release: (() => void) | undefined;
}

/** Makes the lanes of an emulator. */
export function createLanes(): Lanes {
  const tails = new Map<string, Promise<void>>();
  const entries = new Set<Entry>();
  let count = 0;
  let lettingGo = 0;

  function hasFollower({ lane, number }: Entry): boolean {
    return [...entries].some(
      (entry) => entry.lane === lane && entry.number > number && entry.release === undefined,
    );
  }

  function enter(lane: string): Turn {
    const entry: Entry = { lane, number: count++, release: undefined };
    entries.add(entry);
    const arrived = tails.get(lane) ?? Promise.resolve();
    let pass!: () => void;
    const passed = new Promise<void>((resolve) => (pass = resolve));
    const tail = settle(arrived, passed);
    tails.set(lane, tail);
    void forgetAfter(lane, tail);

    return {
      arrived,
      pass,
      finish() {
        pass();
        entries.delete(entry);
        for (const other of entries) {
          if (other.lane === lane && other.number < entry.number) other.release?.();
        }
      },
      async overtaken(ms, signal) {
        if (signal.aborted || (lettingGo > 0 && !hasFollower(entry))) return;
        await new Promise<void>((resolve) => {
          const release = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", release);
            resolve();
          };
          const timer = setTimeout(release, ms);
          signal.addEventListener("abort", release);
          entry.release = release;
        });
        entry.release = undefined;
      },
    };
  }

  async function forgetAfter(lane: string, tail: Promise<void>): Promise<void> {
    await tail;
    if (tails.get(lane) === tail) tails.delete(lane);
  }

  return {
    enter,
    letGo() {
      lettingGo++;
      for (const entry of entries) {
        if (entry.release !== undefined && !hasFollower(entry)) entry.release();
      }
      return () => void lettingGo--;
    },
  };
}

async function settle(...all: Promise<void>[]): Promise<void> {
  await Promise.all(all);
}
