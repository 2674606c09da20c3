import { hash } from "node:crypto";

/** Returns the SHA-256 of a text in hexadecimal: it identifies a text without showing it. */
export function hashText(text: string): string {
  return hash("sha256", text);
}
