export { sqliteQueue } from "./sqlite-queue";
export type { SqliteQueueOptions } from "./options";
export type * from "../queue";
export { QueueError } from "../queue-error";
