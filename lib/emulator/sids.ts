import { randomBytes, randomInt, randomUUID } from "node:crypto";

/** The prefixes of identifiers (specification, section 2.5). */
export type SidPrefix = "AC" | "SK" | "VA" | "YW" | "YF" | "YC";

/** Makes a SID: its prefix and 32 random hexadecimal digits. */
export function createSid(prefix: SidPrefix): string {
  return prefix + randomBytes(16).toString("hex");
}

/** Whether a value is a SID with this prefix, 34 characters long (specification, section 2). */
export function isSid(prefix: SidPrefix, value: unknown): value is string {
  return typeof value === "string" && new RegExp(`^${prefix}[0-9a-fA-F]{32}$`).test(value);
}

/** Makes an auth token: 32 random hexadecimal digits. */
export function createAuthToken(): string {
  return randomBytes(16).toString("hex");
}

const SECRET_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Makes the secret of a key: 32 random letters and digits. */
export function createSecret(): string {
  return Array.from({ length: 32 }, () => SECRET_ALPHABET[randomInt(SECRET_ALPHABET.length)]).join(
    "",
  );
}

/** Makes the unique identifier of a call. */
export function createUuid(): string {
  return randomUUID();
}
