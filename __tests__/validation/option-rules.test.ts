import { FUNCTION, HEADER_NAME, LOGGER, sidRule } from "../../lib/validation/option-rules";

const SID_DIGITS = "0123456789abcdefABCDEF0123456789";

it("HEADER_NAME accepts tokens of RFC 9110", () => {
  expect(["X-Service-Signature", "x_1~"].every(HEADER_NAME.accepts)).toBe(true);
  expect(["", "X Signature", "X:", "\u00e9", 5].some(HEADER_NAME.accepts)).toBe(false);
});

it("LOGGER accepts an object with all four methods", () => {
  const methods = { debug() {}, info() {}, warn() {}, error() {} };
  expect([console, methods].every(LOGGER.accepts)).toBe(true);
  const { debug: _omitted, ...three } = methods;
  expect([three, null, () => {}, { ...methods, error: "text" }].some(LOGGER.accepts)).toBe(false);
});

it("FUNCTION accepts functions", () => {
  expect([() => {}, async () => {}, Date].every(FUNCTION.accepts)).toBe(true);
  expect([{}, "text", null].some(FUNCTION.accepts)).toBe(false);
});

describe("sidRule", () => {
  const { accepts, expected } = sidRule("VA");

  it("accepts the prefix and 32 hexadecimal digits, of upper and lower case", () => {
    expect(accepts(`VA${SID_DIGITS}`)).toBe(true);
    expect(expected).toBe("a SID: VA and 32 hexadecimal digits");
  });

  it.each([`AC${SID_DIGITS}`, `VA${SID_DIGITS}0`, `VA${SID_DIGITS.slice(1)}`, "VA", 5, [`VA`]])(
    "rejects %j",
    (value) => expect(accepts(value)).toBe(false),
  );
});
