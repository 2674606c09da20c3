import { generateKeyPairSync, sign } from "node:crypto";

/** ES256 of JSON Web Tokens: the signature is r and s, without DER (RFC 7518, section 3.4). */
export const JWT_ENCODING = "ieee-p1363";

/** A new private key on the curve P-256, and what it signs by ECDSA with SHA-256. */
export class Es256Key {
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  /** Base64 of the DER encoding. */
  readonly publicKey = this.#keys.publicKey
    .export({ type: "spki", format: "der" })
    .toString("base64");

  /** Signs a text; returns base64 of the DER signature. */
  signText(text: string): string {
    return sign("sha256", Buffer.from(text), this.#keys.privateKey).toString("base64");
  }

  /** Signs the members of a JSON Web Token, and returns the token. */
  signToken(members: Readonly<Record<string, unknown>>): string {
    const text = [{ typ: "JWT", alg: "ES256" }, members]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const key = { key: this.#keys.privateKey, dsaEncoding: JWT_ENCODING } as const;
    return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
  }
}
