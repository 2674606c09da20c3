/** The prefixes of SIDs (specification, section 2.5). */
export type SidPrefix = "AC" | "SK" | "VA" | "YW" | "YE" | "YF" | "YC" | "YK" | "NT";

/** The part of a SID after its prefix, as the source of a regular expression (section 2). */
export const SID_DIGITS = "[0-9a-fA-F]{32}";

/** The pattern of a SID with any prefix. */
export const ANY_SID = new RegExp(`^[A-Z]{2}${SID_DIGITS}$`);

/** Returns the pattern of a SID: a prefix and 32 hexadecimal digits (specification, section 2). */
export function sidPattern(prefix: SidPrefix): RegExp {
  return new RegExp(`^${prefix}${SID_DIGITS}$`);
}

/** Returns whether a value is a SID with this prefix. */
export function isSid(prefix: SidPrefix, value: unknown): value is string {
  return typeof value === "string" && value.startsWith(prefix) && ANY_SID.test(value);
}

/** Creates 32 random hexadecimal digits, as SIDs, auth tokens and secrets of keys have. */
export function createDigits(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Creates a SID. */
export function createSid(prefix: SidPrefix): string {
  return prefix + createDigits();
}
