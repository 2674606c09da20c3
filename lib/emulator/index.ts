export { createEmulator } from "./emulator";
export type { Emulator } from "./emulator";
export type { EmulatorOptions } from "./options";
export type { KeyResource } from "./resources/keys";
export type { WebhookResource } from "./resources/webhooks";
export type { Challenge, Factor } from "./resources/entity";
export type { Device } from "./resources/device";
export type { WebhookDelivery } from "./outbound/deliveries";
export { SendError, sendRequest } from "./outbound/http-client";
export type { WebhookResponse } from "./outbound/http-client";
export type { WebhookRequest } from "../signature/signed-request";
export type { Fault } from "./outbound/faults";

export { EmulatorError } from "./emulator-error";
export type { EmulatorErrorCode } from "./emulator-error";
