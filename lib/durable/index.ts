export { sqliteQueue } from "./sqlite/sqlite-queue";
export type { SqliteQueueOptions } from "./sqlite/options";
export { postgresQueue } from "./postgres/postgres-queue";
export type { PostgresQueueOptions, PostgresConnectionOptions } from "./postgres/options";
export { redisQueue } from "./redis/redis-queue";
export type { RedisConnectionOptions, RedisQueueOptions } from "./redis/options";
export type * from "./queue";
export { QueueError } from "./queue-error";
