export { sqliteQueue } from "./sqlite-queue";
export type { SqliteQueueOptions } from "./options";
export type {
  Backoff,
  DeadLetter,
  DurableQueue,
  EventStatus,
  EventWorker,
  QueueErrorCode,
  QueueOptions,
  QueueStats,
  WorkOptions,
} from "../durable-queue";
export { QueueError } from "../queue-error";
