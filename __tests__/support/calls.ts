/** Former names of the helpers in `webhook-requests.ts`, for tests that still use them. */
export {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  encodeForm,
  eventPairs as callParams,
  eventRequest as eventCall,
  FACTOR_SID,
  PUBLIC_URL,
  SERVICE_SID,
  signedRequestOf as signedCall,
} from "./webhook-requests";
export type {
  TestRequest as TestCall,
  TestRequestOptions as CallOptions,
} from "./webhook-requests";
