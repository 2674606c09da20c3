export { createEmulator } from "./emulator";
export type { Emulator } from "./emulator";
export type { EmulatorOptions } from "./options";
export type { KeyResource, NewKey } from "./keys";
export type { NewWebhook, WebhookResource } from "./webhooks";
export type { Challenge, ChallengeAnswer, Factor, NewChallenge, NewFactor } from "./factors";
export type { Delivery, DeliveryListener, DeliveryRequest } from "./deliveries";
export type { CallResponse } from "../send";
export type { Fault, FaultKind } from "./faults";

export { EmulatorError } from "./errors";
export type { EmulatorErrorCode } from "./errors";
