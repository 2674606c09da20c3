import { createQueue, type DurableQueue } from "../queue";
import { createFileStorage } from "./file-storage";
import { assertNodeSqlite } from "./node-sqlite";
import { resolveSqliteOptions, type SqliteQueueOptions } from "./options";

/**
 * Creates a queue that stores events in a SQLite file before the response, and runs their handlers
 * from there, in this process or in others on this machine: an event with a 200 is not lost with a
 * process. It needs no package and no server, but Node.js 22.13 or newer.
 *
 * @example
 * const queue = sqliteQueue({ name: "shop-production", file: "./data/push.db" });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * const worker = queue.work(push.handlers);
 *
 * @throws TypeError for an option that is unknown or impossible, and when Node.js has no
 *   node:sqlite.
 */
export function sqliteQueue(options: SqliteQueueOptions): DurableQueue {
  assertNodeSqlite();
  const settings = resolveSqliteOptions(options);
  return createQueue(createFileStorage(settings), settings);
}
