import { createHmac, hash } from "node:crypto";

const BLOCK_BYTES = 64;
const SHA1_BYTES = 20;

/** A key of HMAC-SHA1, prepared for many texts. */
export interface HmacKey {
  /** The inner pad. */
  readonly inner: string;
  /** The outer pad, and room for the hash of the inner one. */
  readonly outer: Buffer;
}

/**
 * Prepares a token as a key: its two pads (RFC 2104). Returns a token that is not ASCII or has more
 * than 64 characters unchanged: no token of the service is like that.
 */
export function prepareKey(token: string): HmacKey | string {
  const bytes = Buffer.from(token);
  if (bytes.length > BLOCK_BYTES || bytes.some((byte) => byte > 0x7f)) return token;
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36);
  const outer = Buffer.alloc(BLOCK_BYTES + SHA1_BYTES, 0x5c);
  for (const [index, byte] of bytes.entries()) {
    inner[index] = 0x36 ^ byte;
    outer[index] = 0x5c ^ byte;
  }
  return { inner: inner.toString("latin1"), outer };
}

/**
 * Returns the base64 of the HMAC-SHA1 of a text in UTF-8 (specification, section 5).
 *
 * A prepared key makes two hashes in place of `createHmac`, whose object costs a request more than
 * all other work on its signature: 8 µs of 99 on Node 24.
 */
export function signText(key: HmacKey | string, text: string): string {
  if (typeof key === "string") return digest(key, text);
  // The pad of an ASCII token is ASCII, so pad and text have one encoding.
  key.outer.set(hash("sha1", key.inner + text, "buffer"), BLOCK_BYTES);
  return hash("sha1", key.outer, "base64");
}

/** Returns the base64 of an HMAC; the service uses SHA-1. */
export function digest(
  secret: string,
  text: string,
  algorithm: "sha1" | "sha256" = "sha1",
): string {
  return createHmac(algorithm, secret).update(text).digest("base64");
}
