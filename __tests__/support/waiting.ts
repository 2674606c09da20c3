/** Waiting for what a test expects, without a fixed time. */
import { clearInterval as endTurns, setInterval as startTurns } from "node:timers";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

declare global {
  /** Set by the environment of the tests; no process that they start has it. */
  var testEnds: AbortSignal | undefined;
}

/** Ends a broken test before Jest does, whose message would not name the line. */
const UNTIL_LIMIT_MS = 240_000;

/** Returns the signal of the running test or hook, which is aborted when that ends. */
export const testSignal = (): AbortSignal => globalThis.testEnds ?? new AbortController().signal;

/** Waits until something holds; asks a server less often than this process. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const signal = testSignal();
  const startMs = performance.now();
  while (performance.now() - startMs < UNTIL_LIMIT_MS) {
    const asked = holds();
    if (await asked) return;
    await sleep(typeof asked === "boolean" ? 10 : 50);
    signal.throwIfAborted();
  }
  throw new Error(`not within ${UNTIL_LIMIT_MS} ms`);
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Lets the callbacks run that are due, also where a test fakes the timers. */
export const nextTurn = (): Promise<void> => setImmediate();

/**
 * Makes the clock of each test count the turns of this process, 20 ms each: what a busy machine takes
 * from it ends no time limit, also none of `AbortSignal.timeout`. With a speed, each turn counts so
 * many times.
 */
export function countTime(speed = 1): void {
  const doNotFake = ["nextTick", "queueMicrotask", "setImmediate"] as const;
  let turns: NodeJS.Timeout | undefined;
  beforeEach(() => {
    jest.useFakeTimers({ advanceTimers: speed === 1, doNotFake: [...doNotFake] });
    jest.spyOn(AbortSignal, "timeout").mockImplementation((timeoutMs) => {
      const ending = new AbortController();
      const expire = () => ending.abort(new DOMException("expired", "TimeoutError"));
      setTimeout(expire, timeoutMs).unref();
      return ending.signal;
    });
    if (speed !== 1) turns = startTurns(() => jest.advanceTimersByTime(20 * speed), 20);
  });
  afterAll(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
  afterEach(() => endTurns(turns));
}

/** Makes the timers of one time short: to 50 ms, until the mock is restored. */
export function shorten(name: "setInterval" | "setTimeout", ofMs: number): jest.SpyInstance {
  const start = globalThis[name] as typeof setTimeout;
  return jest
    .spyOn(globalThis, name as "setTimeout")
    .mockImplementation((run, ms) => start(run, ms === ofMs ? 50 : ms));
}

export const never = () => new Promise<never>(() => {});

export function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
