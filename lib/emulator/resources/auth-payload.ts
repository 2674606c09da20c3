import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../kit/text";
import { JWT_ENCODING } from "../../kit/es256-key";
import type { Challenge, Decision } from "./entity";

/** Members of a challenge that a device signs, in addition to the `status` of its decision. */
export const SIGNATURE_FIELDS = [
  "sid",
  "entity_sid",
  "identity",
  "factor_sid",
  "date_created",
  "expiration_date",
  "details",
  "hidden_details",
] as const;

/** Returns whether a text is base64 of the DER encoding of a public key on the curve P-256. */
export function isPublicKey(text: string): boolean {
  try {
    return readPublicKey(text).asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
}

/** Returns whether a payload is the signature of a factor's SID. */
export function isFactorPayload(publicKey: string, factorSid: string, payload: string): boolean {
  const signature = Buffer.from(payload, "base64");
  return verify("sha256", Buffer.from(factorSid), readPublicKey(publicKey), signature);
}

/** Returns the decision in the payload of a challenge; undefined when the signature is not of it. */
export function readDecision(
  publicKey: string,
  challenge: Challenge,
  payload: string,
): Decision | undefined {
  const [header = "", body = "", signature = ""] = payload.split(".");
  const key = { key: readPublicKey(publicKey), dsaEncoding: JWT_ENCODING } as const;
  const signed = Buffer.from(`${header}.${body}`);
  if (!verify("sha256", signed, key, Buffer.from(signature, "base64url"))) return undefined;
  const { alg } = readPart(header);
  const { status, ...members } = readPart(body);
  if (alg !== "ES256" || (status !== "approved" && status !== "denied")) return undefined;
  return isDeepStrictEqual(members, listSignedMembers(challenge)) ? status : undefined;
}

function readPublicKey(text: string): KeyObject {
  return createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
}

/** Lists the members to sign as a response shows them: parsed from its JSON. */
export function listSignedMembers({
  entity_identity,
  ...challenge
}: Challenge): Record<string, unknown> {
  const members = { ...challenge, identity: entity_identity };
  return JSON.parse(
    JSON.stringify(
      Object.fromEntries(SIGNATURE_FIELDS.map((name) => [name, members[name] ?? null])),
    ),
  ) as Record<string, unknown>;
}

function readPart(part: string): Record<string, unknown> {
  return { ...(parseJson(Buffer.from(part, "base64url").toString()) as object | undefined) };
}
