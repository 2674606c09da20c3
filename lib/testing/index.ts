export { signedRequest } from "./signed-request";
export type { ReceiverSettings } from "../core/door";
export type { SignedRequest, SignedRequestOptions } from "./signed-request";
export { testDedupeStore } from "./test-dedupe-store";
export { eventFixture, type EventFixtureOptions, type EventOverrides } from "./event-fixture";
