import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import {
  describeRequest,
  findReceivedBody,
  joinReceivedUrl,
  readHeaders,
  readTarget,
} from "../../lib/receiver/request-info";

function request(members: object): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), members);
}

describe("readHeaders", () => {
  it("lists every value of a header, also of one that Node keeps once", () => {
    const rawHeaders = ["Content-Type", "a", "X", "content-type", "CONTENT-TYPE", "b"];
    const headers = { "content-type": "a", x: "content-type" };
    const { method, listHeader } = readHeaders(request({ method: "POST", rawHeaders, headers }));
    expect(method).toBe("POST");
    expect(listHeader("content-type")).toEqual(["a", "b"]);
    expect(listHeader("x")).toEqual(["content-type"]);
    expect(listHeader("a")).toEqual([]);
  });

  it("uses headers if a platform has no rawHeaders", () => {
    const { listHeader } = readHeaders(request({ headers: { a: "1", b: ["2", "3"] } }));
    expect(["a", "b", "c"].map(listHeader)).toEqual([["1"], ["2", "3"], []]);
    const without = readHeaders(request({ headers: { a: "1" }, rawHeaders: undefined }));
    expect(without.listHeader("a")).toEqual(["1"]);
  });
});

describe("readHeaders, findReceivedBody", () => {
  it("list the names of the headers, and the body that parameters are read from", () => {
    const req = request({ headers: { a: "1", "b-signature": "2" } });
    expect(readHeaders(req).listHeaderNames()).toEqual(["a", "b-signature"]);
    const bytes = Buffer.from("a=1");
    for (const [rawBody, body, found] of [
      [bytes, { a: "1" }, bytes],
      ["a=1", bytes, "a=1"],
      [undefined, bytes, bytes],
      [true, { a: "1" }, { a: "1" }],
      [undefined, undefined, undefined],
    ]) {
      expect(findReceivedBody(request({ rawBody, body }))).toEqual(found);
    }
  });
});

describe("readHeaders of HTTP/2", () => {
  it.each([
    [1, undefined, undefined],
    [2, true, false],
    [2, false, true],
    [2, undefined, true],
  ])("of version %p with endAfterHeaders %p may have a body: %p", (major, ends, mayHaveBody) => {
    const like = { httpVersionMajor: major, stream: { endAfterHeaders: ends } };
    expect(readHeaders(request(like)).mayHaveBody).toBe(mayHaveBody);
  });
});

describe("readTarget, describeRequest", () => {
  it("use the requested target, not the one that a mount path shortened", () => {
    const req = request({ method: "GET", originalUrl: "/a/b?c=1", url: "/b?c=1" });
    expect(readTarget(req)).toBe("/a/b?c=1");
    expect(describeRequest(req)).toEqual({ method: "GET", path: "/a/b", remoteAddress: undefined });
    expect(readTarget(request({ url: "/b" }))).toBe("/b");
  });

  it("describe a request without a method and a socket", () => {
    expect(describeRequest(request({ socket: undefined }))).toEqual({
      method: "",
      path: "",
      remoteAddress: undefined,
    });
  });
});

describe("the path of describeRequest", () => {
  const pathOf = (url: string) => describeRequest(request({ url })).path;

  it("has at most 200 characters, then an ellipsis", () => {
    expect(pathOf(`/${"a".repeat(199)}`)).toBe(`/${"a".repeat(199)}`);
    expect(pathOf(`/${"a".repeat(200)}`)).toBe(`/${"a".repeat(199)}…`);
    expect(pathOf(`/${"\u009b".repeat(60_000)}`)).toHaveLength(201);
  });

  it.each([
    ["/a\nforged line", String.raw`/a\u000aforged line`],
    ["/\u001b[31m\u009b0m\u007f", String.raw`/\u001b[31m\u009b0m\u007f`],
    ["/\u2028\u202eevil\ud800", String.raw`/\u2028\u202eevil\ud800`],
    ["/bücher/%0a/😀", "/bücher/%0a/😀"],
  ])("shows %j as %j", (url, path) => {
    expect(pathOf(url)).toBe(path);
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
    ["/a", { ":authority": "other", host: "app.test" }, "https://app.test/a"],
  ])("of %s with %j is %s", (url, headers, received) => {
    const req = request({ url, headers });
    expect(joinReceivedUrl(readHeaders(req), readTarget(req))).toBe(received);
  });
});
