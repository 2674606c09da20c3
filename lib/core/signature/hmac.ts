import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** Creates the key of a token, which signs and verifies any number of texts. */
export function createTokenKey(token: string): KeyObject {
  return createSecretKey(token, "utf8");
}

/**
 * Returns the base64 of the HMAC-SHA1 of a URL and the joined parameters, in UTF-8 (specification,
 * section 5).
 */
export function signText(key: KeyObject, url: string, joined: string): string {
  return createHmac("sha1", key).update(url).update(joined).digest("base64");
}
