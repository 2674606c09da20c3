import { Worker } from "node:worker_threads";
import type { ThreadSettings } from "./thread";

/**
 * Starts the thread of a file. `npm run build` replaces this module by one that has the code of the
 * thread as text: beside a bundle of an app there is no file `thread`.
 */
export function startThread(workerData: ThreadSettings): Worker {
  return new Worker(require.resolve("./thread"), { workerData });
}
