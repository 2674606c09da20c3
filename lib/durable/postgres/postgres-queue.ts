import type { DurableQueue } from "../durable-queue";
import { createStorageQueue } from "../storage-queue";
import { resolvePostgresOptions, type PostgresQueueOptions } from "./options";
import { createServerStorage } from "./server-storage";

/** Creates the queue of `postgresQueue`, whose documentation see. */
export function createPostgresQueue(options: PostgresQueueOptions): DurableQueue {
  const settings = resolvePostgresOptions(options);
  return createStorageQueue(createServerStorage(settings), settings);
}
