import { createVariants, trimQuotes } from "../../../lib/signature/explain/variants";

describe("createVariants", () => {
  it("keeps each value once, with its first causes, up to the maximum", () => {
    const { add, list } = createVariants(3);
    add("1", []);
    add("1", ["URL_PORT"]);
    add("2", ["URL_PORT"], "two");
    add("3", []);
    add("4", []);
    expect(list).toEqual([
      { value: "1", causes: [] },
      { value: "2", causes: ["URL_PORT"], subject: "two" },
      { value: "3", causes: [] },
    ]);
  });
});

it.each([
  [' "a b"\n', "a b"],
  ["'a'", "a"],
  ["\"a'", "\"a'"],
  ["a", "a"],
  ['""', ""],
])("trimQuotes(%j) is %j", (text, trimmed) => {
  expect(trimQuotes(text)).toBe(trimmed);
});
