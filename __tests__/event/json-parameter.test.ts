import { parseJsonParameter } from "../../lib/event/json-parameter";

const parse = (text: string) => parseJsonParameter(text, 100_000);

describe("parseJsonParameter", () => {
  it.each([
    "null",
    "5",
    '"text"',
    "[1]",
    '{"a":[1]}',
    '{"a":"__proto__"}',
    String.raw`{"a":"\u00e9"}`,
  ])("returns the value of %s", (text) => {
    expect(parse(text)).toEqual({ value: JSON.parse(text) });
  });

  it("describes the problem of text that is not JSON without quoting the text", () => {
    expect(parse("secret")).toEqual({ problem: "is not JSON" });
    expect(parse("")).toEqual({ problem: "is not JSON" });
  });

  it("accepts text of maxCharacters, and rejects one character more", () => {
    expect(parseJsonParameter("[12]", 4)).toEqual({ value: [12] });
    expect(parseJsonParameter("[123]", 4)).toEqual({ problem: "is over 4 characters" });
  });

  it.each([
    ["[", "]", 32],
    ['{"a":', "}", 32],
    ["[", "]", 5],
  ])("returns the value of %s…%s, %i levels deep", (open, close, levels) => {
    const text = `${open.repeat(levels)}1${close.repeat(levels)}`;
    expect(parse(text)).toEqual({ value: JSON.parse(text) });
  });

  it("returns the value of a list of 1,000 objects", () => {
    const text = JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ id, tags: ["["] })));
    expect(parse(text)).toEqual({ value: JSON.parse(text) });
  });

  it.each([
    ["[", "]", 33],
    ['{"a":', "}", 33],
    ["[", "]", 10_000],
    ['[0,{"a":', "}]", 5_000],
  ])("reports %s…%s, repeated %i times, as nested too deep", (open, close, times) => {
    expect(parse(`${open.repeat(times)}1${close.repeat(times)}`)).toEqual({
      problem: "is nested more than 32 levels deep",
    });
  });

  it.each([
    '{"__proto__":1}',
    '{"a":[{"b":{"__proto__":1}}]}',
    String.raw`{"\u005f_proto__":1}`,
    String.raw`{"_\u005Fproto__":{}}`,
    `${'{"a":['.repeat(15)}{"__proto__":1}${"]}".repeat(15)}`,
  ])("finds __proto__ in %s", (text) => {
    expect(parse(text)).toEqual({ problem: "has a member named __proto__" });
  });
});
