export { createEmulator, type Emulator } from "./emulator";
export { AS_PUBLIC_SERVICE, type EmulatorOptions, type NewWebhook } from "./options";
export type { KeyResource, NewKey } from "./resources/keys";
export type { WebhookResource } from "./resources/webhooks";
export type { Challenge, ChallengeDecision, Factor } from "./resources/entity";
export type { NewChallenge, NewFactor } from "./resources/entity";
export type { Device } from "./resources/device";
export type { WebhookDelivery } from "./outbound/deliveries";
export { SendError, sendRequest, type WebhookResponse } from "./outbound/http-client";
export type { WebhookRequest } from "../core/door";
export type { Fault } from "./outbound/faults";

export { EmulatorError, type EmulatorErrorCode } from "./emulator-error";
