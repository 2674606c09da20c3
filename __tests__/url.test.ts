import { parseUrl } from "../lib/url";

describe("parseUrl", () => {
  it.each([
    ["https://app.example/push?a=b#c", undefined, "https://app.example/push?a=b#c"],
    ["../b", "https://app.example/a/c", "https://app.example/b"],
    ["here", undefined, undefined],
    ["http://[bad", undefined, undefined],
    ["", undefined, undefined],
  ])("%j on %j is %j", (url, base, href) => {
    expect(parseUrl(url, base)?.href).toBe(href);
  });

  it("says the same however often it is asked", () => {
    for (let count = 0; count < 50_000; count++) {
      if (parseUrl("https://bücher.example/") === undefined) throw new Error(`at call ${count}`);
    }
  });
});
