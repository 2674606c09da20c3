export { redisQueue } from "./redis-queue";
export type { RedisConnectionOptions, RedisQueueOptions } from "./options";
export type * from "../queue";
export { QueueError } from "../queue-error";
