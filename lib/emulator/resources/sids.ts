import { randomBytes, randomInt } from "node:crypto";
import type { SidPrefix } from "../../form/sid";

/** Creates a SID: its prefix and 32 random hexadecimal digits. */
export function createSid(prefix: SidPrefix): string {
  return prefix + randomBytes(16).toString("hex");
}

/** Creates an auth token: 32 random hexadecimal digits. */
export function createAuthToken(): string {
  return randomBytes(16).toString("hex");
}

const SECRET_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Creates the secret of a key: 32 random letters and digits. */
export function createSecret(): string {
  return Array.from({ length: 32 }, () => SECRET_ALPHABET[randomInt(SECRET_ALPHABET.length)]).join(
    "",
  );
}
