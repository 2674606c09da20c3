export { redisQueue } from "./redis-queue";
export type { RedisConnectionOptions, RedisQueueOptions } from "./options";
export type * from "../durable-queue";
export { QueueError } from "../queue-error";
