import { findFormFault, listSignatureReadings } from "../../../lib/signature/explain/signatures";

const expected = "0k+oXJNeOTwROEp8cUPiDNGBMq0=";
const hex = Buffer.from(expected, "base64").toString("hex");

const READINGS: [received: string, code: string | undefined][] = [
  [expected, undefined],
  [` ${expected}`, "SIGNATURE_WHITESPACE"],
  [`'${expected}'`, "SIGNATURE_WHITESPACE"],
  [`sha1=${expected}`, "SIGNATURE_PREFIXED"],
  [expected.replace("+", " "), "SIGNATURE_ENCODED"],
  [encodeURIComponent(expected), "SIGNATURE_ENCODED"],
  [expected.replace("+", "-"), "SIGNATURE_URL_SAFE"],
  [expected.replace("+", "-").slice(0, 27), "SIGNATURE_URL_SAFE"],
  [`${expected},${expected}`, "SIGNATURE_REPEATED"],
  [hex, "SIGNATURE_HEX"],
  [hex.toUpperCase(), "SIGNATURE_HEX"],
  [`sha1=${hex}`, "SIGNATURE_HEX"],
  [expected.slice(0, 27), "SIGNATURE_TRUNCATED"],
  [`${expected}==`, "SIGNATURE_MALFORMED"],
];

describe("listSignatureReadings", () => {
  it.each([...READINGS, [expected.toLowerCase(), "SIGNATURE_CASE"] as const])(
    "interprets %j: %s",
    (received, code) => {
      const reading = listSignatureReadings(received).find((one) => one.matches(expected));
      expect(reading?.causes).toEqual(code === undefined ? [] : [code]);
    },
  );

  it.each(["", " ", "x", expected.slice(0, 7), "A".repeat(28)])(
    "finds no interpretation of %j",
    (received) => {
      expect(listSignatureReadings(received).some((one) => one.matches(expected))).toBe(false);
    },
  );
});

describe("findFormFault", () => {
  it.each([
    ...READINGS,
    ["", "SIGNATURE_MISSING"],
    [" ", "SIGNATURE_MISSING"],
    ["f".repeat(64), "SIGNATURE_SHA256"],
    [`${"A".repeat(43)}=`, "SIGNATURE_SHA256"],
    ["x", "SIGNATURE_TRUNCATED"],
    ["x".repeat(99), "SIGNATURE_MALFORMED"],
  ] as [string, string | undefined][])("finds in %j: %s", (received, code) => {
    expect(findFormFault(received)).toBe(code);
  });
});
