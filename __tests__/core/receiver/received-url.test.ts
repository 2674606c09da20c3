import { joinReceivedUrl } from "../../../lib/core/receiver/received-url";

describe("joinReceivedUrl", () => {
  it.each<[string, Record<string, string>, string]>([
    ["/a?b", { host: "app.test" }, "https://app.test/a?b"],
    ["/a", { host: "10.0.0.1:80", "x-forwarded-host": "app.test" }, "https://app.test/a"],
    ["/a", { host: "a", "x-forwarded-host": "b , c", "x-forwarded-proto": "http" }, "http://b/a"],
    ["https://app.test/a", { host: "other" }, "https://app.test/a"],
    ["/a", {}, "https:///a"],
    ["/a", { ":authority": "app.test" }, "https://app.test/a"],
    ["/a", { host: "a", forwarded: 'for=1; Host="b:8";proto=http, host=c' }, "http://b:8/a"],
    ["/a?b", { host: "a", "x-forwarded-prefix": "/x/" }, "https://a/x/a?b"],
    ["/x/a", { host: "a", "x-forwarded-prefix": "/x" }, "https://a/x/a"],
    [
      "/a",
      { host: "a", "x-original-uri": "/x/a?b,c", "x-forwarded-prefix": "/y" },
      "https://a/x/a?b,c",
    ],
    ["/a", { host: "a", "x-original-url": "HTTP://b/x" }, "HTTP://b/x"],
    ["/a", { host: "a", "x-forwarded-uri": "/x/a?b" }, "https://a/x/a?b"],
    ["/a", { host: "a", "x-envoy-original-path": "/x/a?b" }, "https://a/x/a?b"],
    ["/a", { ":authority": "other", host: "app.test" }, "https://app.test/a"],
  ])("of %s with %j is %s", (target, headers, received) => {
    const listHeader = (name: string) => [headers[name] ?? []].flat();
    expect(joinReceivedUrl({ target, listHeader })).toBe(received);
  });
});
