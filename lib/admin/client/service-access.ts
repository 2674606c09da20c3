import type { Send } from "./transport";

/** For requests that the methods of a client do not have. */
export interface ServiceAccess {
  readonly send: Send;
  /** The URL of the verification service, without a slash at its end. */
  readonly serviceUrl: string;
}

/** By client of `createAdminClient`, whose methods are the requests that an app needs. */
export const accesses = new WeakMap<object, ServiceAccess>();
