import type { Send } from "./transport";

/** The requests of a client that its methods do not have. */
export interface ServiceAccess {
  readonly send: Send;
  /** The URL of the verification service, without a slash at its end. */
  readonly serviceUrl: string;
}

// Not a property of the client: its methods are the requests that an app needs.
const accesses = new WeakMap<object, ServiceAccess>();

/** Keeps the access of a client. */
export function registerAccess(client: object, access: ServiceAccess): void {
  accesses.set(client, access);
}

/** Returns the access of a client; undefined for anything that `createAdminClient` did not create. */
export function findAccess(client: object): ServiceAccess | undefined {
  return accesses.get(client);
}
