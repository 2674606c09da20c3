import { listParamsVariants } from "../../../lib/signature/explain/params";
import type { Pair } from "../../../lib/form/form";
import { joinParams } from "../../../lib/signature/signature";

function causesOf(given: Pair[], signed: Pair[], body?: string) {
  const variants = listParamsVariants(given, "https://a.example/?q=1", body);
  return variants.find(({ value }) => value === joinParams(signed))?.causes;
}
const one = (value: string): Pair[] => [["a", value]];

describe("listParamsVariants", () => {
  it.each([
    ["as they are", "x", "x", []],
    ["a space for a plus", "1 2", "1+2", ["PARAMS_PLUS"]],
    ["one space of two for a plus", "+1 2 3", "+1+2 3", ["PARAMS_PLUS"]],
    ["a plus for a space", "1+2", "1 2", ["PARAMS_PLUS"]],
    ["trimmed", "x", "x ", ["PARAMS_WHITESPACE"]],
    ["padded", " x ", "x", ["PARAMS_WHITESPACE"]],
    ["LF for CR LF", "a\nb", "a\r\nb", ["PARAMS_NEWLINES"]],
    ["CR LF for LF", "a\r\nb", "a\nb", ["PARAMS_NEWLINES"]],
    ["encoded", "%C3%AB%26", "ë&", ["PARAMS_ENCODED"]],
    ["decoded twice", "50%", "50%25", ["PARAMS_DECODED_TWICE"]],
    ["latin1", "Ã«", "ë", ["PARAMS_CHARSET"]],
    ["NFD", "e\u0308", "\u00eb", ["PARAMS_NORMALIZED"]],
    ["escaped", "&lt;it&#39;s&gt;", "<it's>", ["PARAMS_ESCAPED"]],
    ["JSON with spaces", '{"a": [1, {"b": null}]}', '{"a":[1,{"b":null}]}', ["PARAMS_JSON"]],
    ["JSON without", '{"a":[1,{"b":null}]}', '{"a": [1, {"b": null}]}', ["PARAMS_JSON"]],
  ])("%s", (_what, given, signed, causes) => {
    expect(causesOf(one(given), one(signed))).toEqual(causes);
  });

  it("removes parameters that the query or another middleware added", () => {
    expect(causesOf([["q", "1"], ...one("x")], one("x"))).toEqual(["PARAMS_QUERY_MERGED"]);
    expect(causesOf([["z", "1"], ...one("x")], one("x"))).toEqual(["PARAMS_ADDED"]);
    expect(causesOf(one("x"), [])).toEqual(["PARAMS_ADDED"]);
    expect(causesOf([...one("x"), ["b", "y"]], [])).toEqual(["PARAMS_UNSIGNED"]);
  });

  it.each([
    ["  x  y", "a=++x++y%0A", "PARAMS_WHITESPACE"],
    ["1 2 3", "a=1%2B2%2B3%204", "PARAMS_ALTERED"],
    ["1 2 3 4", "a=1%2B2%2B3+4", "PARAMS_PLUS"],
    ["a%2", "a=a%25252", "PARAMS_DECODED_TWICE"],
  ])("compares %j with the body %s", (given, body, cause) => {
    const [, value = ""] = new URLSearchParams(body).entries().next().value ?? [];
    expect(causesOf(one(given), one(value), body)).toEqual([cause]);
    expect(causesOf([], one(value), body)).toEqual(["PARAMS_MISSING"]);
  });

  it.each(["%zz", "a=%FF", ""])("does not throw for the body %j", (body) => {
    expect(causesOf(one("x"), one("x"), body)).toEqual([]);
  });

  it("reads a body of JSON as the parameters", () => {
    expect(
      causesOf(
        [],
        [
          ["a", "+1"],
          ["b", "2"],
        ],
        '{"b":"2","a":"+1"}',
      ),
    ).toEqual(["BODY_JSON"]);
    expect(causesOf(one("x"), one("x"), '{"a":"x"}')).toEqual([]);
  });

  it("lists fewer variants of long parameters, and always the body and no parameters", () => {
    const large = Array.from({ length: 60 }, (_, index): Pair => [`p${index}`, "+ ".repeat(500)]);
    const body = "a=1";
    const variants = listParamsVariants(large, "https://a.example/", body);
    let characters = 0;
    for (const { value } of variants) characters += value.length;
    expect(characters).toBeLessThan(2_100_000);
    expect(variants.slice(-2)).toEqual([
      { value: "a1", causes: ["PARAMS_ALTERED"] },
      { value: "", causes: ["PARAMS_UNSIGNED"] },
    ]);
    const many = Array.from({ length: 36 }, (_, index): Pair => [`p${index}`, "+ % 1 2 3 4 5"]);
    const most = listParamsVariants(many, "https://a.example/", body);
    expect(most).toHaveLength(600);
    expect(most.slice(-2).map(({ value }) => value)).toEqual(["a1", ""]);
  });
});
