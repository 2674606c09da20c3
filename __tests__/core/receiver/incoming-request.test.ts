import { describeRequest } from "../../../lib/core/receiver/incoming-request";

const request = (target: string) => ({
  method: "GET",
  target,
  remoteAddress: undefined,
  mayHaveBody: false,
  listHeader: () => [],
  listHeaders: () => [],
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
    ["/a\nforged line\u202e", String.raw`/a\u000aforged line\u202e`],
    ["/bücher/%0a/😀", "/bücher/%0a/😀"],
  ])("shows %j as %j", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});
