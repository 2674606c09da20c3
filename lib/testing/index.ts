export { signedRequest } from "./signed-request";
export type { ReceiverSettings, SignedRequest, SignedRequestOptions } from "./signed-request";
export { testDedupeStore } from "./test-dedupe-store";
export { eventFixture } from "./event-fixture";
export type { EventFixtureOptions, EventOverrides } from "./event-fixture";
