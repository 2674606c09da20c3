/** A seeded scheduler that owns time: the code under test has no other timers. */

/** Returns numbers from 0 to below 1 that depend on the seed only (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A simulated process: its timers and replies run only while it does. */
export interface SimulatedProcess {
  isAlive: boolean;
  isSuspended: boolean;
}

interface Timer {
  process: SimulatedProcess;
  atMs: number;
  everyMs: number | undefined;
  run: () => void;
  unref(): Timer;
}

const originals = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
};

/** The time of one schedule. */
export function createScheduler(random: () => number) {
  let nowMs = 1_000_000;
  let current: SimulatedProcess = { isAlive: true, isSuspended: false };
  const timers = new Set<Timer>();
  /** What may run now, in any order. */
  const steps: { process: SimulatedProcess | undefined; run: () => void }[] = [];

  function addTimer(run: () => void, delayMs = 0, everyMs?: number): Timer {
    const timer: Timer = {
      process: current,
      atMs: nowMs + delayMs,
      everyMs,
      run,
      unref: () => timer,
    };
    timers.add(timer);
    return timer;
  }

  function fireNextTimer(): void {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (!timer.process.isAlive) timers.delete(timer);
      else if (!timer.process.isSuspended && (next === undefined || timer.atMs < next.atMs)) {
        next = timer;
      }
    }
    if (next === undefined) return;
    nowMs = Math.max(nowMs, next.atMs);
    if (next.everyMs === undefined) timers.delete(next);
    else next.atMs = nowMs + next.everyMs;
    enter(next.process, next.run);
  }

  function enter(process: SimulatedProcess, run: () => void): void {
    current = process;
    run();
  }

  function takeStep(): (() => void) | undefined {
    const start = Math.floor(random() * steps.length);
    for (let offset = 0; offset < steps.length; offset++) {
      const index = (start + offset) % steps.length;
      const step = steps[index]!;
      if (step.process?.isSuspended === true) continue;
      steps.splice(index, 1);
      const { process, run } = step;
      if (process === undefined) return run;
      if (process.isAlive) return () => enter(process, run);
      return () => {};
    }
    return undefined;
  }

  return {
    nowMs: () => nowMs,
    random,
    enter,
    /** Adds a step of a process, or of the store and the network. */
    add: (process: SimulatedProcess | undefined, run: () => void) =>
      void steps.push({ process, run }),
    /** Runs one step; resolves when all its promises have settled. */
    async step(): Promise<void> {
      const run = random() < 0.9 ? takeStep() : undefined;
      if (run === undefined) fireNextTimer();
      else run();
      // Runs after all microtasks.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    },
    install(): () => void {
      const replaced = {
        setTimeout: (run: () => void, delayMs?: number) => addTimer(run, delayMs),
        setInterval: (run: () => void, everyMs: number) => addTimer(run, everyMs, everyMs),
        clearTimeout: (timer: Timer) => void timers.delete(timer),
        clearInterval: (timer: Timer) => void timers.delete(timer),
        setImmediate: (run: () => void) => void steps.push({ process: current, run }),
      };
      Object.assign(globalThis, replaced);
      const { now } = performance;
      performance.now = () => nowMs;
      return () => {
        Object.assign(globalThis, originals);
        performance.now = now;
      };
    },
  };
}

/** The time of one schedule. */
export type Scheduler = ReturnType<typeof createScheduler>;
