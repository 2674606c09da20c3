import {
  CHANGES_OF_ALL,
  CHANGES_OF_NAMES,
  CHANGES_OF_ONE,
  decodeFormText,
  listSpacesAsPlus,
} from "../../../lib/signature/explain/changes";

const codesThat = (changes: typeof CHANGES_OF_ALL, from: string, to: string) =>
  changes.flatMap(([code, change]) => (change(from) === to ? [code] : []));

describe("the changes", () => {
  it.each([
    ["a+b", "a b", "PARAMS_PLUS"],
    ["a\nb", "a\r\nb", "PARAMS_NEWLINES"],
    ["%C3%AB", "\u00eb", "PARAMS_ENCODED"],
    ["&lt;&#39;&nbsp;", "<'&nbsp;", "PARAMS_ESCAPED"],
    ['{"a": [1, true]}', '{"a":[1,true]}', "PARAMS_JSON"],
  ])("of all values turn %j into %j: %s", (from, to, code) => {
    expect(codesThat(CHANGES_OF_ALL, from, to)).toContain(code);
  });

  it.each([
    ["a", "a\r\n", "PARAMS_WHITESPACE"],
    ["a%b", "a%25b", "PARAMS_DECODED_TWICE"],
    ['{"a":[1,null]}', '{"a": [1, null]}', "PARAMS_JSON"],
  ])("of one value turn %j into %j: %s", (from, to, code) => {
    expect(codesThat(CHANGES_OF_ONE, from, to)).toContain(code);
  });

  it.each(["\uD800", "%zz", "{", "[".repeat(50_000), "&#;"])("do not throw for %.9j", (text) => {
    for (const [, change] of [...CHANGES_OF_ALL, ...CHANGES_OF_ONE]) {
      expect(typeof change(text)).toBe("string");
    }
    for (const change of CHANGES_OF_NAMES) expect(typeof change(text)).toBe("string");
  });
});

describe("listSpacesAsPlus, decodeFormText", () => {
  it("change one of up to 8 spaces, and decode well-formed text", () => {
    expect(listSpacesAsPlus("a")).toEqual([]);
    expect(listSpacesAsPlus(" 1 2")).toEqual(["+1 2", " 1+2"]);
    expect(listSpacesAsPlus(" ".repeat(64_000))).toHaveLength(8);
    expect(["a+%2B", "a+%zz"].map(decodeFormText)).toEqual(["a +", "a %zz"]);
  });
});
