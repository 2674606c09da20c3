export { redisQueue } from "./redis-queue";
export type { RedisConnectionOptions, RedisQueueOptions } from "./options";
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
