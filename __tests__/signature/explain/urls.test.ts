import { listUrlVariants } from "../../../lib/signature/explain/urls";

const url = "https://a.example/push?b=it's&a=%2F";
const causesOf = (signed: string, given = url, received?: string) =>
  listUrlVariants(given, "exact", received).find(({ value }) => value === signed)?.causes;

describe("listUrlVariants", () => {
  it.each([
    [url, []],
    ["http://a.example/push?b=it's&a=%2F", ["URL_SCHEME"]],
    ["https://a.example:443/push?b=it's&a=%2F", ["URL_PORT"]],
    ["https://www.a.example/push?b=it's&a=%2F", ["URL_HOST"]],
    ["https://a.example/push/?b=it's&a=%2F", ["URL_TRAILING_SLASH"]],
    ["https://a.example/push", ["URL_QUERY_EXTRA"]],
    ["https://a.example/push?b=it%27s&a=%2F", ["URL_QUERY_ENCODING"]],
    ["https://a.example/push?b=it's&a=%2f", ["URL_QUERY_ENCODING"]],
    ["https://a.example/push?b=it's&a=/", ["URL_QUERY_ENCODING"]],
    ["https://a.example/push?a=%2F&b=it's", ["URL_QUERY_ORDER"]],
    ["http://a.example/push/?b=it's&a=%2F", ["URL_SCHEME", "URL_TRAILING_SLASH"]],
    ["https://b.example/push?b=it's&a=%2F", undefined],
  ])("%s: %j", (signed, causes) => {
    expect(causesOf(signed)).toEqual(causes);
  });

  it("combines the given URL with the received one", () => {
    const received = "http://10.0.0.7:3000/inner?c=1";
    expect(causesOf("https://a.example/inner?b=it's&a=%2F", url, received)).toEqual(["URL_PATH"]);
    expect(causesOf(received, url, received)).toEqual([
      "URL_SCHEME",
      "URL_HOST",
      "URL_PATH",
      "URL_QUERY_ENCODING",
    ]);
  });

  it.each(["", "no url", "https://", "https://a?%zz", "https://a/%ff?é=\uD800"])(
    "does not throw for %j",
    (text) => {
      expect(listUrlVariants(text, "ports", text)[0]?.causes).toEqual([]);
    },
  );

  it("lists fewer second mistakes of a long URL", () => {
    const long = `https://a.example/?${"a=%2f&".repeat(2_500)}`;
    expect(listUrlVariants(url, "ports").some(({ causes }) => causes.length === 2)).toBe(true);
    const variants = listUrlVariants(long, "ports", `http://b.example/${"x".repeat(15_000)}`);
    expect(variants.some(({ value }) => value === long.replace("https", "http"))).toBe(true);
    let characters = 0;
    for (const { value } of variants) characters += value.length;
    expect(characters).toBeLessThan(2_500_000);
  });
});
