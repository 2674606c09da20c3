import { isSid, sidPattern, SID_DIGITS } from "../../lib/form/sid";

const DIGITS = "0aF".repeat(10) + "12";

describe("isSid", () => {
  it.each([
    ["the prefix and 32 hexadecimal digits", `AC${DIGITS}`, true],
    ["31 digits", `AC${DIGITS.slice(1)}`, false],
    ["33 digits", `AC${DIGITS}0`, false],
    ["a line break at the end", `AC${DIGITS}\n`, false],
    ["text before the prefix", ` AC${DIGITS}`, false],
    ["a prefix in lower case", `ac${DIGITS}`, false],
    ["another prefix", `VA${DIGITS}`, false],
    ["a digit that is not hexadecimal", `AC${DIGITS.slice(1)}g`, false],
    ["a value that is not a string", [`AC${DIGITS}`], false],
  ])("of %s", (_name, value, expected) => {
    expect(isSid("AC", value)).toBe(expected);
  });
});

it("sidPattern matches a SID of its prefix each time that it is used", () => {
  const pattern = sidPattern("YW");
  expect([1, 2].map(() => pattern.test(`YW${DIGITS}`))).toEqual([true, true]);
  expect(pattern.test(`AC${DIGITS}`)).toBe(false);
});

it("SID_DIGITS finds a SID within a text", () => {
  const text = `no account AC${DIGITS} here`;
  expect(text.replace(new RegExp(`AC${SID_DIGITS}`), "(SID)")).toBe("no account (SID) here");
});
