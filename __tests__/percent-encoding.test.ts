import { decodeSafely, encodeSafely } from "../lib/percent-encoding";

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

it("encodeSafely takes another encoding", () => {
  expect(encodeSafely("a b&ö", encodeURI)).toBe("a%20b&%C3%B6");
});
