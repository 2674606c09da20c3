/** A seeded scheduler that owns time and chance: the code under test has no other timers. */

import promises = require("node:timers/promises");

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

type Step = Pick<Timer, "run"> & { process: SimulatedProcess | undefined };

const START_MS = 1_000_000_000;
/** The other steps let time pass. */
const SHARE_OF_STEPS = 0.9;

export function createScheduler(random: () => number) {
  let nowMs = START_MS;
  let current: SimulatedProcess = { isAlive: true, isSuspended: false };
  let timers: Timer[] = [];
  /** The steps that may run now, in any order. */
  const steps: Step[] = [];

  function addTimer(run: () => void, delayMs = 0, everyMs?: number): Timer {
    const atMs = nowMs + delayMs;
    const timer: Timer = { process: current, atMs, everyMs, run, unref: () => timer };
    timers.push(timer);
    return timer;
  }

  function removeTimer(timer: Timer | undefined): void {
    timers = timers.filter((one) => one !== timer);
  }

  function enter(process: SimulatedProcess, run: () => void): void {
    current = process;
    run();
  }

  function fireNextTimer(): void {
    timers = timers.filter(({ process }) => process.isAlive);
    const running = timers.filter(({ process }) => !process.isSuspended);
    const [next] = running.toSorted((one, other) => one.atMs - other.atMs);
    if (next === undefined) return;
    nowMs = Math.max(nowMs, next.atMs);
    if (next.everyMs === undefined) removeTimer(next);
    else next.atMs = nowMs + next.everyMs;
    enter(next.process, next.run);
  }

  function takeStep(): Step | undefined {
    const ready = steps.filter(({ process }) => process?.isSuspended !== true);
    const step = ready[Math.floor(random() * ready.length)];
    if (step !== undefined) steps.splice(steps.indexOf(step), 1);
    return step;
  }

  /** No signal ends one earlier: the schedules close no queue. */
  const sleep = (delayMs: number, value?: unknown) =>
    new Promise((resolve) => addTimer(() => resolve(value), delayMs));

  return {
    nowMs: () => nowMs,
    enter,
    /** Adds a step of a process, or of the store and the network. */
    add: (process: SimulatedProcess | undefined, run: () => void) =>
      void steps.push({ process, run }),
    /** Runs one step; the caller then lets all promises settle. */
    step(): void {
      const step = random() < SHARE_OF_STEPS ? takeStep() : undefined;
      if (step === undefined) fireNextTimer();
      else if (step.process === undefined) step.run();
      else if (step.process.isAlive) enter(step.process, step.run);
    },
    /** Replaces clocks, timers and random numbers; returns a function that restores them. */
    install(): () => void {
      const digits = () => Math.floor(random() * 2 ** 32).toString(16);
      const restores = [
        replace(globalThis, {
          setTimeout: (run: () => void, delayMs?: number) => addTimer(run, delayMs),
          setInterval: (run: () => void, everyMs: number) => addTimer(run, everyMs, everyMs),
          clearTimeout: removeTimer,
          clearInterval: removeTimer,
          setImmediate: (run: () => void) => void steps.push({ process: current, run }),
        }),
        replace(promises, { setTimeout: sleep }),
        replace(performance, { now: () => nowMs }),
        replace(Date, { now: () => nowMs }),
        replace(crypto, { randomUUID: () => `${digits().padStart(8, "0")}-0-0-0-0` }),
      ];
      return () => {
        for (const restore of restores) restore();
      };
    },
  };
}

function replace(target: object, members: object): () => void {
  const own = Object.keys(members).map((name) => [name, Reflect.get(target, name) as unknown]);
  Object.assign(target, members);
  return () => void Object.assign(target, Object.fromEntries(own));
}
