import { createGetParts, createPostParts } from "../../../lib/core/signature/signed-parts";

describe("createGetParts", () => {
  it.each([
    ["https://h.test/p", "/elsewhere?a=1", "https://h.test/p?a=1", [["a", "1"]]],
    ["https://h.test/p?", "/p?&a=1", undefined, []],
    ["https://h.test/p", "/p?a=1#&b=2", undefined, []],
    ["https://h.test/p?t=1", "/p?t=1&a=%27'", "https://h.test/p?t=1&a=%27'", [["a", "''"]]],
    ["https://h.test/p?t=1#rc=2", "/p?t=1&a=1", "https://h.test/p?t=1&a=1", [["a", "1"]]],
    ["https://h.test/p?t=1", "/p?t=1", "https://h.test/p?t=1", []],
    ["https://h.test/p?t=1", "/p?t=1&t=1", "https://h.test/p?t=1&t=1", [["t", "1"]]],
    ["https://h.test/p?q=ö", "/p?q=%C3%B6&a=1", "https://h.test/p?q=ö&a=1", [["a", "1"]]],
    ["https://h.test/p?a?b", "/p?a?b&c=1", "https://h.test/p?a?b&c=1", [["c", "1"]]],
    ["https://h.test/p?t=1", "/p?t=11", undefined, []],
    ["https://h.test/p?t=1", "/p?a=1&t=1", undefined, []],
  ])("%s requested as %s", (publicUrl, target, url, pairs) => {
    if (url === undefined) {
      expect(() => createGetParts([publicUrl], "exact")(target)).toThrow(
        expect.objectContaining({ name: "UncoveredTargetError", publicUrl }),
      );
    } else {
      expect(createGetParts([publicUrl], "exact")(target)).toEqual([
        { signedUrls: [url], publicUrlIndexes: [0], joined: "", params: pairs },
      ]);
    }
  });

  it.each([[[0, 1]], [[1, 0]]])(
    "returns an alternative for each publicUrl that fits, the longest query first: %j",
    (order) => {
      const [long, short] = ["https://a.test/p?t=1", "https://b.test/p"] as const;
      const getParts = createGetParts(
        order.map((at) => [long, short][at] ?? ""),
        "exact",
      );
      const [ofLong, ofShort] = [[order[0]], [order[1]]];
      expect(getParts("/p?t=1&a=1")).toMatchObject([
        { signedUrls: [`${long}&a=1`], publicUrlIndexes: ofLong, params: [["a", "1"]] },
        { signedUrls: [`${short}?t=1&a=1`], publicUrlIndexes: ofShort, params: [{}, {}] },
      ]);
      expect(getParts("/p?a=1")).toMatchObject([{ publicUrlIndexes: ofShort }]);
    },
  );
});

describe("createPostParts", () => {
  it("covers the parameters with every spelling of every publicUrl", () => {
    const pairs: [string, string][] = [["a", "1"]];
    const [a, b] = ["https://a.test/p", "http://b.test/p"] as const;
    const signedUrls = [a, "https://a.test:443/p", b, "http://b.test:80/p"];
    expect(createPostParts([a, b], "ports")({ pairs, joined: "a1" })).toEqual([
      { signedUrls, publicUrlIndexes: [0, 0, 1, 1], joined: "a1", params: pairs },
    ]);
  });
});
