import { createGetParts, createPostParts } from "../../lib/signature/signed-parts";

describe("createGetParts", () => {
  it.each<[string, string, string | undefined, [string, string][]]>([
    ["https://h.test/p", "/p?a=1", "https://h.test/p?a=1", [["a", "1"]]],
    ["https://h.test/p", "/elsewhere?a=1", "https://h.test/p?a=1", [["a", "1"]]],
    ["https://h.test/p?", "/p?a=1", undefined, []],
    ["https://h.test/p?", "/p?&a=1", undefined, []],
    ["https://h.test/p", "/p?a=1#", undefined, []],
    ["https://h.test/p", "/p?a=1#&b=2", undefined, []],
    ["https://h.test/p#f", "/p?a=1#f", undefined, []],
    ["https://h.test/p?t=1", "/p?t=1&a=%27'", "https://h.test/p?t=1&a=%27'", [["a", "''"]]],
    ["https://h.test/p?t=1#rc=2", "/p?t=1&a=1", "https://h.test/p?t=1&a=1", [["a", "1"]]],
    ["https://h.test/p?t=1", "/p?t=1", "https://h.test/p?t=1", []],
    ["https://h.test/p?t=1", "/p?t=1&t=1", "https://h.test/p?t=1&t=1", [["t", "1"]]],
    ["https://h.test/p?q=ö", "/p?q=%C3%B6&a=1", "https://h.test/p?q=ö&a=1", [["a", "1"]]],
    ["https://h.test/p?a?b", "/p?a?b&c=1", "https://h.test/p?a?b&c=1", [["c", "1"]]],
    ["https://h.test/p?t=1", "/p", undefined, []],
    ["https://h.test/p?t=1", "/p?t=2&a=1", undefined, []],
    ["https://h.test/p?t=1", "/p?t=11", undefined, []],
    ["https://h.test/p?t=1", "/p?a=1&t=1", undefined, []],
  ])("%s requested as %s", (publicUrl, target, url, pairs) => {
    if (url === undefined) {
      expect(() => createGetParts([publicUrl], "exact")(target)).toThrow(
        expect.objectContaining({ name: "UncoveredTargetError", publicUrl }),
      );
    } else {
      expect(createGetParts([publicUrl], "exact")(target)).toEqual([
        { signedUrls: [url], publicUrlIndexes: [0], signedParams: [], params: pairs },
      ]);
    }
  });

  it("returns an alternative for each publicUrl that fits", () => {
    const getParts = createGetParts(["https://a.test/p?t=1", "https://b.test/p"], "exact");
    const found = getParts("/p?t=1&a=1").map(({ signedUrls, publicUrlIndexes, params }) => [
      signedUrls[0],
      publicUrlIndexes[0],
      params.join("&"),
    ]);
    expect(found).toEqual([
      ["https://a.test/p?t=1&a=1", 0, "a,1"],
      ["https://b.test/p?t=1&a=1", 1, "t,1&a,1"],
    ]);
    expect(getParts("/p?a=1").map(({ publicUrlIndexes }) => publicUrlIndexes)).toEqual([[1]]);
  });

  it("returns the longest configured query first, in any order of the URLs", () => {
    const urls = ["https://a.test/p", "https://a.test/p?t=1"];
    for (const publicUrls of [urls, urls.toReversed()]) {
      const [first] = createGetParts(publicUrls, "exact")("/p?t=1&uuid=2");
      expect(first?.params).toEqual([["uuid", "2"]]);
      expect(first?.publicUrlIndexes).toEqual([publicUrls.indexOf("https://a.test/p?t=1")]);
    }
  });
});

describe("createPostParts", () => {
  it("covers the parameters with every spelling of every publicUrl", () => {
    const params = [["a", "1"]] as const;
    const [a, b] = ["https://a.test/p", "http://b.test/p"] as const;
    const signedUrls = [a, "https://a.test:443/p", b, "http://b.test:80/p"];
    expect(createPostParts([a, b], "ports")(params)).toEqual([
      { signedUrls, publicUrlIndexes: [0, 0, 1, 1], signedParams: params, params },
    ]);
  });
});
