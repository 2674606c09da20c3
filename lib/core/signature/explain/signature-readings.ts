import type { SignatureCauseCode } from "../../errors/signature-causes";
import { decodeSafely } from "../../../kit/text";
import { isSignature } from "../signature";

/** One interpretation of the received text as a signature. */
export interface SignatureReading {
  algorithm: "sha1" | "sha256";
  /** Empty if the text is a signature as it is. */
  causes: readonly SignatureCauseCode[];
  /** Returns whether the received text stands for the expected signature, which is base64. */
  matches: (expected: string) => boolean;
}

const SHORTEST_PART = 8;
/** A hexadecimal HMAC, or the base64 of an HMAC-SHA256. */
const OTHER_ALGORITHM = /^(?:sha\d+=)?(?:([\da-f]{40}|[\da-f]{64})|([a-z0-9+/]{43}=))$/i;

/** Lists the interpretations of a text as a signature, the one without a mistake first. */
export function listSignatureReadings(received: string): SignatureReading[] {
  const readings: SignatureReading[] = [];
  const read = (
    code: SignatureCauseCode | undefined,
    matches: SignatureReading["matches"],
    algorithm: SignatureReading["algorithm"] = "sha1",
  ) => void readings.push({ algorithm, causes: [code ?? []].flat(), matches });
  const text = received.trim();
  if (text === "") return readings;
  if (isSignature(received)) read(undefined, (expected) => expected === received);
  for (const part of text.split(",").slice(1)) {
    read("SIGNATURE_REPEATED", (expected) => expected === part.trim());
  }
  const [, hex, sha256] = OTHER_ALGORITHM.exec(text) ?? [];
  const base64 = hex === undefined ? sha256 : Buffer.from(hex, "hex").toString("base64");
  if (base64 !== undefined) {
    const algorithm = base64.length === 44 ? "sha256" : "sha1";
    read("SIGNATURE_ALGORITHM", (expected) => expected === base64, algorithm);
  }
  const plain = decodeSafely(text.replaceAll(/[\s"']+/g, ""));
  const standard = plain.replaceAll("-", "+").replaceAll("_", "/");
  const lower = plain.toLowerCase();
  read(
    "SIGNATURE_MALFORMED",
    (expected) =>
      [standard, standard.padEnd(28, "="), text.replaceAll(" ", "+")].includes(expected) ||
      plain.includes(expected) ||
      (plain.length >= SHORTEST_PART && expected.toLowerCase().includes(lower)),
  );
  return readings;
}

/** Finds the cause that makes a signature malformed; undefined if it is well-formed. */
export function findFormFault(received: string): SignatureCauseCode | undefined {
  const [likeliest] = listSignatureReadings(received);
  return likeliest === undefined ? "SIGNATURE_MISSING" : likeliest.causes[0];
}
