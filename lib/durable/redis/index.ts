export { redisQueue } from "./redis-queue";
export type {
  RedisConnection,
  RedisConnectionOptions,
  RedisInstance,
  RedisQueueOptions,
  ServerAddress,
} from "./options";
export type {
  DeadLetter,
  DeadLetterOptions,
  DurableQueue,
  EventFailure,
  EventState,
  EventStatus,
  EventWorker,
  QueueStats,
} from "../durable-queue";
export { QueueError } from "../queue-error";
export type { QueueErrorCode } from "../queue-error";
export type { Backoff, QueueOptions } from "../queue-options";
export type { WorkOptions } from "../work-options";
