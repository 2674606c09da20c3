import type { Send } from "./transport";

/** For requests that the methods of a client do not have. */
export interface ServiceAccess {
  readonly send: Send;
  /** The URL of the verification service, without a slash at its end. */
  readonly serviceUrl: string;
}

// Not a property of the client: its methods are the requests that an app needs.
const accesses = new WeakMap<object, ServiceAccess>();

/** Keeps an access for {@link findAccess}. */
export function registerAccess(client: object, access: ServiceAccess): void {
  accesses.set(client, access);
}

/** Returns the access of a client of `createAdminClient`; undefined for anything else. */
export function findAccess(client: object): ServiceAccess | undefined {
  return accesses.get(client);
}
