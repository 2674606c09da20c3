import { decodeSafely, encodeForm, encodeSafely, parseJson } from "../../lib/form/text";

it.each([
  ["a%20b%C3%B6", "a bö"],
  ["50%", "50%"],
  ["%FF", "%FF"],
  ["", ""],
])("decodeSafely of %j is %j", (text, decoded) => {
  expect(decodeSafely(text)).toBe(decoded);
});

it.each([
  ["a b&ö", "a%20b%26%C3%B6"],
  ["\uD800", "\uD800"],
])("encodeSafely of %j is %j", (text, encoded) => {
  expect(encodeSafely(text)).toBe(encoded);
});

it("encodeSafely uses another encoding function", () => {
  expect(encodeSafely("a b&ö", encodeURI)).toBe("a%20b&%C3%B6");
});

it("encodeForm keeps the order of the pairs, and repeated and empty ones", () => {
  const pairs = [
    ["b", "1 + 1&2"],
    ["a[ö]", ""],
    ["b", "'~*"],
  ] as const;
  expect(encodeForm(pairs)).toBe("b=1+%2B+1%262&a%5B%C3%B6%5D=&b=%27%7E*");
});

describe("parseJson", () => {
  it.each([
    ['{"a":[1,null]}', { a: [1, null] }],
    ["null", null],
    ["", undefined],
    ["<html>", undefined],
    ['{"a":', undefined],
  ])("parses %j", (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });
});
