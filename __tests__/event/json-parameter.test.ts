import { parseJsonParameter } from "../../lib/event/parse";

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
    for (const text of ["secret", ""]) expect(parse(text)).toEqual({ problem: "is not JSON" });
  });

  it("accepts text of maxCharacters, and rejects one character more", () => {
    expect(parseJsonParameter("[12]", 4)).toEqual({ value: [12] });
    expect(parseJsonParameter("[123]", 4)).toEqual({ problem: "is over 4 characters" });
  });

  it.each([
    ["[", "]", 5, undefined],
    ["[", "]", 32, undefined],
    ['{"a":', "}", 32, undefined],
    ["[", "]", 33, "is nested more than 32 levels deep"],
    ['{"a":', "}", 33, "is nested more than 32 levels deep"],
    ["[", "]", 10_000, "is nested more than 32 levels deep"],
    ['[0,{"a":', "}]", 5_000, "is nested more than 32 levels deep"],
  ])("of %s…%s, repeated %i times, reports %j", (open, close, times, problem) => {
    const text = `${open.repeat(times)}1${close.repeat(times)}`;
    const value: unknown = problem === undefined ? JSON.parse(text) : undefined;
    expect(parse(text)).toEqual({ value, problem });
  });

  it("returns the value of a list of 1,000 objects", () => {
    const text = JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ id, tags: ["["] })));
    expect(parse(text)).toEqual({ value: JSON.parse(text) });
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
