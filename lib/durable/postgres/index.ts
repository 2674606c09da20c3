export { postgresQueue } from "../postgres-queue";
export type { PostgresConnectionOptions, PostgresQueueOptions } from "./options";
export type { DeadLetter, DeadLetterOptions, EventState, EventStatus } from "../dead-letters";
export type { DurableQueue, EventWorker, QueueStats } from "../durable-queue";
export { QueueError } from "../queue-error";
export type { QueueErrorCode } from "../queue-error";
export type { QueueOptions } from "../queue-options";
export type { Backoff } from "../backoff";
export type { WorkOptions } from "../work-options";
