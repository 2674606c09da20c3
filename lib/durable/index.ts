export { durableQueue } from "./durable-queue";
export type { DurableQueue, EventWorker, QueueStats, WorkOptions } from "./durable-queue";
export type { Backoff, DurableQueueOptions, RedisConnectionOptions } from "./options";
export type { DeadLetter, DeadLetterOptions } from "./dead-letter";
export { DurabilityError } from "./durability-error";
