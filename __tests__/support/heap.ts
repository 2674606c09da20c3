import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
export const collectGarbage = runInNewContext("gc") as () => void;

/** Returns the size of the heap and of the buffers outside it without garbage, in bytes. */
export function measureHeap(): number {
  // A buffer is freed after the collection that found it.
  for (let round = 0; round < 2; round++) collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
