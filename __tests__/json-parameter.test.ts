import { z } from "zod";
import { parseJsonParameter } from "../lib/json-parameter";

const schema = z.object({ a: z.unknown() });

describe("parseJsonParameter", () => {
  it("gives the value of text that fits", () => {
    expect(parseJsonParameter('{"a":[1]}', { schema })).toEqual({ value: { a: [1] } });
  });

  it("gives the problem of text that does not, and nothing of the text", () => {
    expect(parseJsonParameter("secret", { schema })).toEqual({ problem: "is not JSON" });
    expect(parseJsonParameter('["secret"]', { schema })).toEqual({
      problem: "does not have the specified members",
    });
    expect(parseJsonParameter('{"a":1}', { schema, maxCharacters: 6 })).toEqual({
      problem: "is over 6 characters",
    });
  });

  it("finds __proto__ however deep, and takes it as a value", () => {
    const deep = `${'{"a":['.repeat(5_000)}{"__proto__":1}${"]}".repeat(5_000)}`;
    expect(parseJsonParameter(deep, { schema })).toHaveProperty("problem");
    expect(parseJsonParameter('{"a":"__proto__"}', { schema })).toHaveProperty("value");
    expect(parseJsonParameter(String.raw`{"a":"\u00e9"}`, { schema })).toHaveProperty("value");
  });
});
