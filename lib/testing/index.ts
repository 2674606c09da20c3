export { signedRequest } from "./signed-request";
export type { SignedRequest, SignedRequestOptions } from "./signed-request";
export { eventFixture } from "./event-fixture";
export type { EventOverrides } from "./event-params";
