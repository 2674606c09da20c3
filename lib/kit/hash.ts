import { createHmac, hash } from "node:crypto";

/** Returns the SHA-256 of a text in hexadecimal, which identifies it and does not show it. */
export function hashText(text: string): string {
  return hash("sha256", text);
}

/** Returns the base64 of the HMAC of a text, keyed with a secret. */
export function digest(secret: string, text: string, algorithm: "sha1" | "sha256"): string {
  return createHmac(algorithm, secret).update(text).digest("base64");
}

/** Names a text by 8 hexadecimal digits, which do not show it. A new secret gives it another name. */
export function createPseudonym(secret: string, text: string): string {
  return Buffer.from(digest(secret, text, "sha256"), "base64")
    .toString("hex")
    .slice(0, 8);
}
