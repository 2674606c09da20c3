export { sqliteQueue } from "./sqlite/sqlite-queue";
export type { SqliteQueueOptions } from "./sqlite/options";
export { QueueFileError } from "./sqlite/queue-file-error";
export type { QueueFileErrorCode } from "./sqlite/queue-file-error";
export { postgresQueue } from "./postgres-queue";
export type { PostgresQueueOptions, PostgresConnectionOptions } from "./postgres/options";
export { PostgresQueueError } from "./postgres/postgres-queue-error";
export type { PostgresQueueErrorCode } from "./postgres/postgres-queue-error";
export { redisQueue, durableQueue } from "./redis-queue";
export type { DurableQueue, EventWorker, QueueStats } from "./durable-queue";
export type { WorkOptions } from "./work-options";
export type { Backoff } from "./backoff";
export type { DurableQueueOptions } from "./redis/options";
export type {
  RedisConnection,
  RedisConnectionOptions,
  RedisInstance,
  ServerAddress,
} from "./redis/connection-option";
export type { DeadLetter, DeadLetterOptions } from "./dead-letter";
export { DurabilityError } from "./redis/durability-error";
