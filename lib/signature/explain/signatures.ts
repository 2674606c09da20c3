import type { SignatureCauseCode } from "../../errors/signature-causes";
import { decodeSafely } from "../../form/percent-encoding";
import { isSignature } from "../signature";

/** One interpretation of the received text as a signature. */
export interface SignatureReading {
  algorithm: "sha1" | "sha256";
  /** Empty if the text is a signature as it is. */
  causes: readonly SignatureCauseCode[];
  /** Returns whether the received text stands for the expected signature, which is base64. */
  matches(expected: string): boolean;
}

const SHORTEST_PREFIX = 8;

/** Lists the interpretations of a text as a signature, that without a mistake first. */
export function listSignatureReadings(received: string): SignatureReading[] {
  const readings: SignatureReading[] = [];
  if (received.trim() === "") return readings;
  const read = (
    cause: SignatureCauseCode | undefined,
    matches: (expected: string) => boolean,
    algorithm: "sha1" | "sha256" = "sha1",
  ) => readings.push({ algorithm, causes: cause === undefined ? [] : [cause], matches });
  const readAs = (cause: SignatureCauseCode, text: string) => {
    if (text !== received && text !== "") read(cause, (expected) => expected === text);
  };

  if (isSignature(received)) read(undefined, (expected) => expected === received);
  readAs("SIGNATURE_WHITESPACE", received.replaceAll(/[\s"']+/g, ""));
  readAs("SIGNATURE_PREFIXED", received.trim().replace(/^[\w-]+[=: ]\s*(?=.)/, ""));
  readAs("SIGNATURE_ENCODED", received.replaceAll(" ", "+"));
  readAs("SIGNATURE_ENCODED", decodeSafely(received));
  if (/[-_]/.test(received)) {
    const standard = received.replaceAll("-", "+").replaceAll("_", "/");
    readAs("SIGNATURE_URL_SAFE", standard.padEnd(28, "="));
  }
  for (const part of received.split(",")) readAs("SIGNATURE_REPEATED", part.trim());

  const text = received.trim();
  const hex = /^(?:sha(?:1|256)=)?([\da-f]+)$/i.exec(text)?.[1] ?? "";
  if (hex.length === 40) readAs("SIGNATURE_HEX", Buffer.from(hex, "hex").toString("base64"));
  if (hex.length === 64) {
    const base64 = Buffer.from(hex, "hex").toString("base64");
    read("SIGNATURE_SHA256", (expected) => expected === base64, "sha256");
  }
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) {
    read("SIGNATURE_SHA256", (expected) => expected === text, "sha256");
  }
  read("SIGNATURE_CASE", (expected) => expected.toLowerCase() === text.toLowerCase());
  if (text.length >= SHORTEST_PREFIX && text.length < 28) {
    read("SIGNATURE_TRUNCATED", (expected) => expected.startsWith(text) || expected.endsWith(text));
  }
  if (text.length > 28) read("SIGNATURE_MALFORMED", (expected) => text.includes(expected));
  return readings;
}

/** Finds the cause that makes a signature malformed; undefined if it is well-formed. */
export function findFormFault(received: string): SignatureCauseCode | undefined {
  const text = received.trim();
  if (text === "") return "SIGNATURE_MISSING";
  if (isSignature(received)) return undefined;
  if (text.includes(",")) return "SIGNATURE_REPEATED";
  if (/^(?:sha1=)?[\da-f]{40}$/i.test(text)) return "SIGNATURE_HEX";
  if (/^(?:sha256=)?(?:[\da-f]{64}|[A-Za-z0-9+/]{43}=)$/i.test(text)) return "SIGNATURE_SHA256";
  if (isSignature(text.replaceAll(/[\s"']+/g, ""))) return "SIGNATURE_WHITESPACE";
  if (/^[\w-]+[=: ]/.test(text) && isSignature(text.replace(/^[\w-]+[=: ]\s*/, ""))) {
    return "SIGNATURE_PREFIXED";
  }
  if (isSignature(text.replaceAll(" ", "+")) || isSignature(decodeSafely(text))) {
    return "SIGNATURE_ENCODED";
  }
  if (/^[\w-]{27}=?$/.test(text) && /[-_]/.test(text)) return "SIGNATURE_URL_SAFE";
  return text.length < 28 ? "SIGNATURE_TRUNCATED" : "SIGNATURE_MALFORMED";
}
