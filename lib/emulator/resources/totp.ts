import { createHmac, randomBytes } from "node:crypto";

/** Settings of time-based one-time passwords (RFC 6238). */
export interface TotpConfig {
  /** Hash of the HMAC. @default "sha1" */
  alg: "sha1" | "sha256" | "sha512";
  /** Length of a step, in seconds. @default 30 */
  time_step: number;
  /** Number of steps before and after the current one whose codes are accepted. @default 1 */
  skew: number;
  /** Number of digits. @default 6 */
  code_length: number;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Creates a secret of 160 bits, in base32. */
export function createTotpSecret(): string {
  // 256 is a multiple of 32: each letter is as likely as any other.
  return Array.from(randomBytes(32), (byte) => BASE32[byte % 32]).join("");
}

/** Creates the URI that an authenticator app reads from a QR code. */
export function createTotpUri(name: string, secret: string, config: TotpConfig): string {
  const { alg, code_length, time_step } = config;
  const query = `secret=${secret}&issuer=emulator&algorithm=${alg.toUpperCase()}&digits=${code_length}&period=${time_step}`;
  return `otpauth://totp/emulator:${encodeURIComponent(name)}?${query}`;
}

/** Returns whether a code belongs to a time in milliseconds, or to a step within `skew`. */
export function isTotpCode(secret: string, config: TotpConfig, code: string, ms: number): boolean {
  const step = Math.floor(ms / 1000 / config.time_step);
  for (let offset = -config.skew; offset <= config.skew; offset++) {
    if (computeCode(secret, config, step + offset) === code) return true;
  }
  return false;
}

function computeCode(secret: string, { alg, code_length }: TotpConfig, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.max(step, 0)));
  const digest = createHmac(alg, decodeBase32(secret)).update(counter).digest();
  const binary = digest.readUInt32BE((digest.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(binary).slice(-code_length).padStart(code_length, "0");
}

function decodeBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
