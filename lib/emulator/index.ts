export { createEmulator } from "./emulator";
export type { Emulator } from "./emulator";
export type { EmulatorOptions, NewWebhook } from "./options";
export type { KeyResource, NewKey } from "./resources/keys";
export type { WebhookResource } from "./resources/webhooks";
export type { Factor, NewFactor } from "./resources/factor";
export type { Device } from "./resources/device";
export type { Challenge, ChallengeDecision, NewChallenge } from "./resources/challenge";
export type {
  WebhookDelivery,
  WebhookDeliveryListener,
  WebhookDeliveryRequest,
} from "./outbound/deliveries";
export { SendError, sendRequest } from "./outbound/http-client";
export type { SendRequestOptions, WebhookResponse } from "./outbound/http-client";
export type { WebhookRequest } from "../signature/signed-request";
export type { Fault, FaultKind } from "./outbound/faults";

export { EmulatorError } from "./emulator-error";
export type { EmulatorErrorCode } from "./emulator-error";
