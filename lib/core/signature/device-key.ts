import { generateKeyPairSync, sign } from "node:crypto";

/** The decision of a user on a device. */
export type Decision = "approved" | "denied";

/** ES256 of JSON Web Tokens: the signature is r and s, without DER (RFC 7518, section 3.4). */
export const JWT_ENCODING = "ieee-p1363";

/**
 * The private key of a device, on the curve P-256, and what the device signs with it. The
 * specification does not show it; the public mobile SDKs of the vendor do (docs/emulator.md).
 */
export class DeviceKey {
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  /** The parameter `Binding.PublicKey` of a new factor: base64 of the DER encoding. */
  readonly publicKey = this.#keys.publicKey
    .export({ type: "spki", format: "der" })
    .toString("base64");

  /** Signs the SID of a factor: base64 of the DER signature, by ECDSA with SHA-256. */
  signFactor(factorSid: string): string {
    return sign("sha256", Buffer.from(factorSid), this.#keys.privateKey).toString("base64");
  }

  /**
   * Signs a challenge and the decision of its user: a JSON Web Token, by ES256.
   *
   * @param members those that the header `…-Verify-Signature-Fields` of the challenge names.
   */
  signChallenge(members: Readonly<Record<string, unknown>>, status: Decision): string {
    const text = [
      { typ: "JWT", alg: "ES256" },
      { ...members, status },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const key = { key: this.#keys.privateKey, dsaEncoding: JWT_ENCODING } as const;
    return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
  }
}
