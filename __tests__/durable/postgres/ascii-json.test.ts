import { toAsciiJson } from "../../../lib/durable/postgres/ascii-json";

describe("toAsciiJson", () => {
  it.each(["plain", "Zoë", "a\u0000b", "\ud800", "😀", "\u007f\u0080\uffff", '"\\'])(
    "writes %j in ASCII, to be read again",
    (text) => {
      const json = toAsciiJson({ text });
      expect(json).toMatch(/^[ -~]*$/);
      expect(JSON.parse(json)).toEqual({ text });
    },
  );
});
