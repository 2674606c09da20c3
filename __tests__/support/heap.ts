import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
/** Collects garbage at once. */
export const collectGarbage = runInNewContext("gc") as () => void;

/** Returns the size of the heap without garbage, in bytes. */
export function measureHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
