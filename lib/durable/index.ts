export { sqliteQueue } from "./sqlite/sqlite-queue";
export type { SqliteQueueOptions } from "./sqlite/options";
export { postgresQueue } from "./postgres/postgres-queue";
export type { PostgresQueueOptions, PostgresConnectionOptions } from "./postgres/options";
export { redisQueue } from "./redis/redis-queue";
export type { DurableQueue, EventWorker, QueueStats } from "./durable-queue";
export type { WorkOptions } from "./work-options";
export type { Backoff } from "./queue-options";
export type { RedisQueueOptions } from "./redis/options";
export type { QueueOptions } from "./queue-options";
export type {
  RedisConnection,
  RedisConnectionOptions,
  RedisInstance,
  ServerAddress,
} from "./redis/options";
export type {
  DeadLetter,
  DeadLetterOptions,
  EventFailure,
  EventState,
  EventStatus,
} from "./durable-queue";
export { QueueError } from "./queue-error";
export type { QueueErrorCode } from "./queue-error";
