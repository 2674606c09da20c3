import type { DurableQueue } from "../durable-queue";
import { createStorageQueue } from "../queue";
import { resolvePostgresOptions, type PostgresQueueOptions } from "./options";
import type * as engine from "./server-storage";

/**
 * Creates a queue that stores events in Postgres before the response, and runs their handlers from
 * there, in this process or in others: an event with a 200 is not lost with a process. Its tables
 * are in a schema of their own, which the first process creates.
 *
 * Loads the package pg on the first call.
 *
 * @example
 * const queue = postgresQueue({ name: "shop-production", connection: process.env.DATABASE_URL });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * const worker = queue.work(push.handlers);
 *
 * @throws TypeError for an option that is unknown or impossible; Error with the line that installs
 *   the package when it is missing.
 */
export function postgresQueue(options: PostgresQueueOptions): DurableQueue {
  const settings = resolvePostgresOptions(options);
  return createStorageQueue(loadPostgresEngine().createServerStorage(settings), settings);
}

function loadPostgresEngine(): typeof engine {
  try {
    return require("./server-storage") as typeof engine;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" || !/'pg'/.test(message)) throw error;
    throw new Error("postgresQueue needs the package pg. Run: npm install pg", { cause: error });
  }
}
