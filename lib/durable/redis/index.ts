export { redisQueue } from "../redis-queue";
export type { RedisQueueOptions } from "./options";
export type {
  RedisConnection,
  RedisConnectionOptions,
  RedisInstance,
  ServerAddress,
} from "./connection-option";
export type { DeadLetter, DeadLetterOptions, EventState, EventStatus } from "../dead-letters";
export type { DurableQueue, EventWorker, QueueStats } from "../durable-queue";
export { QueueError } from "../queue-error";
export type { QueueErrorCode } from "../queue-error";
export type { QueueOptions } from "../queue-options";
export type { Backoff } from "../backoff";
export type { WorkOptions } from "../work-options";
