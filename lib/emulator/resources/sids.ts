import { randomBytes } from "node:crypto";
import type { SidPrefix } from "../../form/sid";

/** Creates a SID: its prefix and 32 random hexadecimal digits. */
export function createSid(prefix: SidPrefix): string {
  return prefix + randomBytes(16).toString("hex");
}

/** Creates an auth token, or the secret of a key: 32 random hexadecimal digits. */
export function createAuthToken(): string {
  return randomBytes(16).toString("hex");
}
