export { postgresQueue } from "./postgres-queue";
export type { PostgresConnectionOptions, PostgresQueueOptions } from "./options";
export type * from "../queue";
export { QueueError } from "../queue-error";
