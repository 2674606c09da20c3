/** Waiting for what a test expects, without a fixed time. */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

/** Waits until something holds; asks a server less often than this process. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const asked = holds();
    if (await asked) return;
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms`);
    await sleep(typeof asked === "boolean" ? 10 : 50);
  }
}

/** Returns the items of an async iterable. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Lets the callbacks run that are due, also where a test fakes the timers. */
export const nextTurn = (): Promise<void> => setImmediate();

/** Returns a promise that does not settle. */
export const never = () => new Promise<never>(() => {});

/** A promise, and the function that resolves it. */
export function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
