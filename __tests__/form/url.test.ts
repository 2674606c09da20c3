import { hideUserInfo, parseUrl } from "../../lib/form/url";

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

  it("returns the same result each time", () => {
    for (let count = 0; count < 50_000; count++) {
      if (parseUrl("https://bücher.example/") === undefined) throw new Error(`at call ${count}`);
    }
  });
});

describe("hideUserInfo", () => {
  it.each([
    ["https://svc:hush@a.example/p?q=//x@y", "https://***@a.example/p?q=//***@y"],
    [" 'https://svc:hush@a.example/p'", " 'https://***@a.example/p'"],
    ["https://a.example/p@q", "https://a.example/p@q"],
  ])("of %s is %s", (url, shown) => {
    expect(hideUserInfo(url)).toBe(shown);
  });
});
