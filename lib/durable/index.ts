export { durableQueue } from "./durable-queue";
export type { CloseOptions, DurableQueue, QueueStats, WorkOptions } from "./durable-queue";
export type { DurableQueueOptions } from "./options";
export type { DeadLetter } from "./dead-letters";
export { DurabilityError } from "./durability";
