export { redisQueue } from "./redis-queue";
export type {
  RedisConnection,
  RedisConnectionOptions,
  RedisInstance,
  RedisQueueOptions,
  ServerAddress,
} from "./options";
export type * from "../durable-queue";
export { QueueError } from "../queue-error";
