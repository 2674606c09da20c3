import { requireWithPackages } from "../packages";
import { createQueue, type DurableQueue } from "../queue";
import { PACKAGES, resolvePostgresOptions, type PostgresQueueOptions } from "./options";
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
 *
 * @throws TypeError for an option that is unknown or impossible; Error with the line that installs
 *   the package when it is missing.
 */
export function postgresQueue(options: PostgresQueueOptions): DurableQueue {
  const settings = resolvePostgresOptions(options);
  const { ServerStorage } = requireWithPackages(
    () => require("./server-storage") as typeof engine,
    "postgresQueue",
    PACKAGES,
  );
  return createQueue(new ServerStorage(settings), settings);
}
