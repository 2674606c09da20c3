import { sign, verifyPushRequest, type Pair, type VerifyOptions } from "express-push-verification";
import { createGetParts, createPostParts } from "../../lib/signature/signed-parts";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  encodeForm,
  PUBLIC_URL,
  signedRequestOf,
} from "../support/webhook-requests";

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
    expect(getParts("/p?t=1&a=1")).toEqual([
      {
        signedUrls: ["https://a.test/p?t=1&a=1"],
        publicUrlIndexes: [0],
        signedParams: [],
        params: [["a", "1"]],
      },
      {
        signedUrls: ["https://b.test/p?t=1&a=1"],
        publicUrlIndexes: [1],
        signedParams: [],
        params: [
          ["t", "1"],
          ["a", "1"],
        ],
      },
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
    expect(createPostParts(["https://a.test/p", "http://b.test/p"], "ports")(params)).toEqual([
      {
        signedUrls: [
          "https://a.test/p",
          "https://a.test:443/p",
          "http://b.test/p",
          "http://b.test:80/p",
        ],
        publicUrlIndexes: [0, 0, 1, 1],
        signedParams: params,
        params,
      },
    ]);
  });
});

describe("a request to another URL of the account, which is not a publicUrl here", () => {
  const options: VerifyOptions = {
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
  };
  const victim = eventPairs("challenge.approved", "v1", { entity_identity: "victim" }).toSorted(
    ([a], [b]) => (a < b ? -1 : 1),
  );

  it.each(["/staging", "-2", "?env=staging", ""])(
    "is no POST when it was a GET of publicUrl and %j",
    async (rest) => {
      const planted = `${victim.flat().join("")}z`;
      const params = eventPairs("factor.created", "v2", {
        factor_metadata: JSON.stringify({ planted }),
      });
      const { path, headers } = signedRequestOf(params, {
        publicUrl: PUBLIC_URL + rest,
        method: "GET",
      });
      const signed = `https://hooks.example.test${path}`.slice(PUBLIC_URL.length);
      const [before = "", after = ""] = signed.split(planted);
      const recut: Pair[] = [[before, ""], ...victim, [`z${after}`, ""]];
      const forged = { ...signedRequestOf(recut), url: "/", body: encodeForm(recut) };
      const signature = headers["x-service-signature"] ?? "";
      expect(forged.headers["x-service-signature"]).toBe(signature);
      await expect(verifyPushRequest(forged, options)).rejects.toHaveProperty(
        "code",
        "PAYLOAD_AMBIGUOUS",
      );
    },
  );

  it("is rejected as a GET if it was a POST to publicUrl and a query", async () => {
    const planted = `&${encodeForm(victim)}&z=`;
    const params = eventPairs("factor.created", "v2", {
      factor_friendly_name: "phone",
      factor_metadata: JSON.stringify({ planted }),
    });
    const joined = params.toSorted(([a], [b]) => (a < b ? -1 : 1)).flat();
    const url = `${PUBLIC_URL}?env=staging${joined.join("")}`;
    const signature = sign({ authToken: AUTH_TOKEN, url: `${PUBLIC_URL}?env=staging`, params });
    const headers = { "x-service-signature": signature };
    await expect(
      verifyPushRequest({ method: "GET", url, headers }, options),
    ).rejects.toHaveProperty("code", "PAYLOAD_AMBIGUOUS");
  });

  it("is irrelevant if a value contains a URL without an account", async () => {
    const hidden = JSON.stringify({ link: `${PUBLIC_URL}?account_sid=VA&type=a` });
    const params = eventPairs("challenge.approved", "v2", { challenge_hidden_details: hidden });
    for (const method of ["POST", "GET"] as const) {
      const { path: url, ...request } = signedRequestOf(params, { method });
      await expect(
        verifyPushRequest({ ...request, url, body: request.body ?? null }, options),
      ).resolves.toHaveProperty("account_sid", ACCOUNT_SID);
    }
  });
});
