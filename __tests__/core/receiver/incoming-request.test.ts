import { joinReceivedUrl } from "../../../lib/core/receiver/received-url";
import { describeRequest } from "../../../lib/core/receiver/incoming-request";

const request = (target: string, headers: Record<string, string> = {}) => ({
  method: "GET",
  target,
  remoteAddress: undefined,
  mayHaveBody: false,
  listHeader: (name: string) => [headers[name] ?? []].flat(),
  listHeaders: () => Object.entries(headers),
  readBody: () => undefined,
});

describe("the path of describeRequest", () => {
  const pathOf = (target: string) => describeRequest(request(target)).path;

  it("has at most 200 characters, then an ellipsis", () => {
    expect(pathOf(`/${"a".repeat(199)}`)).toBe(`/${"a".repeat(199)}`);
    expect(pathOf(`/${"a".repeat(200)}`)).toBe(`/${"a".repeat(199)}…`);
    expect(pathOf(`/${"\u009b".repeat(60_000)}`)).toHaveLength(201);
  });

  it.each([
    ["/a/b?c=1", "/a/b"],
    ["/a\nforged line", String.raw`/a\u000aforged line`],
    ["/\u001b[31m\u009b0m\u007f", String.raw`/\u001b[31m\u009b0m\u007f`],
    ["/\u2028\u202eevil\ud800", String.raw`/\u2028\u202eevil\ud800`],
    ["/bücher/%0a/😀", "/bücher/%0a/😀"],
  ])("shows %j as %j", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe("joinReceivedUrl", () => {
  it.each<[string, Record<string, string>, string]>([
    ["/a?b", { host: "app.test" }, "https://app.test/a?b"],
    ["/a", { host: "10.0.0.1:80", "x-forwarded-host": "app.test" }, "https://app.test/a"],
    ["/a", { host: "a", "x-forwarded-host": "b, c", "x-forwarded-proto": "http" }, "http://b/a"],
    ["https://app.test/a", { host: "other" }, "https://app.test/a"],
    ["/a", {}, "https:///a"],
    ["/a", { ":authority": "app.test" }, "https://app.test/a"],
    ["/a", { host: "a", forwarded: 'for=1;host="b:8";proto=http, host=c' }, "http://b:8/a"],
    ["/a?b", { host: "a", "x-forwarded-prefix": "/x/" }, "https://a/x/a?b"],
    ["/x/a", { host: "a", "x-forwarded-prefix": "/x" }, "https://a/x/a"],
    [
      "/a",
      { host: "a", "x-original-uri": "/x/a?b,c", "x-forwarded-prefix": "/y" },
      "https://a/x/a?b,c",
    ],
    ["/a", { host: "a", "x-original-url": "http://b/x" }, "http://b/x"],
    ["/a", { host: "a", "x-forwarded-uri": "/x/a?b" }, "https://a/x/a?b"],
    ["/a", { host: "a", "x-envoy-original-path": "/x/a?b" }, "https://a/x/a?b"],
    ["/a", { ":authority": "other", host: "app.test" }, "https://app.test/a"],
  ])("of %s with %j is %s", (target, headers, received) => {
    expect(joinReceivedUrl(request(target, headers))).toBe(received);
  });
});
