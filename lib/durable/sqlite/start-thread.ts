import { Worker } from "node:worker_threads";
import type { ThreadSettings } from "./thread";

/**
 * Starts the thread of a file. `npm run build` replaces this module: beside a bundle of an app there is no
 * file `thread`.
 */
export function startThread(workerData: ThreadSettings): Worker {
  return new Worker(require.resolve("./thread"), { workerData });
}
