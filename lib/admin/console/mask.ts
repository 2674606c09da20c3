import { createPseudonym as createKeyed } from "../../core/door";

export { maskIdentity, maskText } from "../../core/door";

let pseudonymKey: string | undefined;

/** Names an identity by a keyed hash: the same for one identity, until the process ends. */
export function createPseudonym(identity: string): string {
  // Not while this file is loaded: Cloudflare Workers allow no random value then.
  pseudonymKey ??= crypto.randomUUID();
  return createKeyed(pseudonymKey, identity);
}
