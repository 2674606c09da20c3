export { postgresQueue } from "./postgres-queue";
export type { PostgresConnectionOptions, PostgresQueueOptions } from "./options";
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
