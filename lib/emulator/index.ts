export { createEmulator } from "./emulator";
export type { Emulator } from "./emulator";
export type { EmulatorOptions } from "./options";
export type { KeyResource, NewKey } from "./key";
export type { NewWebhook, WebhookResource } from "./webhook";
export type { Factor, NewFactor } from "./factor";
export type { Challenge, ChallengeAnswer, NewChallenge } from "./challenge";
export type { Delivery, DeliveryListener, DeliveryRequest } from "./deliveries";
export type { CallResponse } from "../send";
export type { Fault, FaultKind } from "./faults";

export { EmulatorError } from "./errors";
export type { EmulatorErrorCode } from "./errors";
