export { sqliteQueue } from "./sqlite-queue";
export type { SqliteQueueOptions } from "./options";
export type * from "../durable-queue";
export { QueueError } from "../queue-error";
