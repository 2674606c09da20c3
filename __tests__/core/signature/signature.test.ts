import { createHmac } from "node:crypto";
import fc from "fast-check";
import { sign, verifySignature, type SignedParams } from "express-push-verification";
import { isSignature } from "../../../lib/core/signature/signature";
import { anyCharacter } from "../../support/any-character";
import { joinCut } from "../../support/cuts";

const authToken = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const url = "https://hooks.example.test/push/events";
const CREATED = "uuid=0b7b6f0e-6a0a-4a55-9f0e-5a3c4c1e7d11&type=factor.created";
const VERIFIED = "?type=factor.verified&uuid=0b7b6f0e-6a0a-4a55-9f0e-5a3c4c1e7d11";
const params: SignedParams = { type: "factor.created", uuid: "1" };

/** Signatures of another implementation: of parameters, to a URL with this end, by a token. */
const SIGNED: [what: string, params: string, signature: string, end?: string, token?: string][] = [
  ["two parameters, given out of order", CREATED, "spltyRVLIB+qQr/llzKRKlLsVRc="],
  ["a GET", "", "I9ftn1Yz91dWm9qBqJtwKLzPJd0=", VERIFIED],
  ["a repeated name and value", "tag=z&tag=a&tag=z&a=1", "UBILXu6tozNE5+2XcvcFp8Q3v88="],
  ["a repeated name, once empty", "k=x&k=", "0Oo58df8EoHZgAusFKQse0xrgWM="],
  ["upper case before lower case", "b=2&B=1&a=4&A=3&_=5", "TKx8p9E3YUV7pjE6mqURHfA/SN4="],
  ["plus signs", "entity_identity=%2B1+555%2B0100", "wq1/B73gzePYcoznUjUbs82KIq8="],
  ["UTF-8", "имя=Ωmega&名=値&e=café&emoji=🔐✅", "7ZChGsS+GwIzX6tAElapux8DDOE="],
  ["names in the order of UTF-16", "～=1&😀=2", "od+NGXhMokVuzfySg0B2LxPP350="],
  ["plus and apostrophe in the query", CREATED, "3WJjj+NmW5H1GqZuG9SdYwvVXz4=", "?who=Pat+O'Hara"],
  ["lower-case hex in the query", CREATED, "ko6Ro3ECwwvPm8WFTuyBtJ8OuWI=", "?next=%2fa"],
  ["a token beyond ASCII", CREATED, "fGzjbDglqu41zu+MQykW/k+u0Ag=", "", "töken-🔑"],
];
it.each(SIGNED)("%s", (_what, query, signature, end = "", token = authToken) => {
  const options = { authToken: token, url: url + end, params: new URLSearchParams(query) };
  expect(sign(options)).toBe(signature);
  const match = { authTokenIndex: 0, signedUrl: url + end };
  expect(verifySignature({ ...options, signature })).toEqual(match);
});

describe("sign", () => {
  it.each([
    ["an iterable of pairs", new URLSearchParams("b=1&a=1&b=2")],
    ["a record", { a: "1", b: ["1", "2"] }],
  ])("signs %s like an array of pairs", (_what, same) => {
    const pairs = [...new URLSearchParams("b=2&a=1&b=1")];
    const expected = sign({ authToken, url, params: pairs });
    expect(sign({ authToken, url, params: same })).toBe(expected);
  });

  it("does not change the pairs", () => {
    const pairs = [...new URLSearchParams("b=2&a=1&b=1")];
    sign({ authToken, url, params: pairs });
    expect(String(new URLSearchParams(pairs))).toBe("b=2&a=1&b=1");
  });

  it.each([
    ["url", { url: `${url}/\ud800`, params: {} }],
    ["name", { url, params: { "\udc00": "x" } }],
    ["value", { url, params: { x: "\ud83d" } }],
  ])("rejects half a surrogate pair in a %s", (_where, parts) => {
    expect(() => sign({ authToken, ...parts })).toThrow(TypeError);
  });

  it.each<readonly [string, object]>([
    ["params", { url, params: "type=a" }],
    ["params", { url, params: null }],
    ["url", { params }],
    ["url", { url: new URL(url), params }],
    ...[undefined, "", 5, [], ["", authToken]].map(
      (token) => ["authToken", { authToken: token, url, params }] as const,
    ),
  ])("throws a TypeError that names a wrong %s", (name, parts) => {
    const options = { authToken, signature: "", ...parts } as never;
    for (const called of [sign, verifySignature]) {
      const owner = `(${called.name}: )${name === "authToken" ? "?" : ""}`;
      const message = expect.stringMatching(`^${owner}${name} must`);
      const error = expect.objectContaining({ name: "TypeError", message });
      expect(() => called(options)).toThrow(error);
    }
  });
});

describe("verifySignature", () => {
  // Computed independently of the library.
  const hmac = (text: string) => createHmac("sha1", authToken).update(text).digest("base64");
  const signature = hmac(`${url}typefactor.createduuid1`);

  it("returns the index of the token that matched", () => {
    const verify = (...tokens: string[]) =>
      verifySignature({ authToken: tokens, url, params, signature });
    const other = "0".repeat(32);
    expect(verify(authToken, other)).toEqual({ authTokenIndex: 0, signedUrl: url });
    expect(verify(other, authToken)).toEqual({ authTokenIndex: 1, signedUrl: url });
    expect(verify(other)).toBeUndefined();
  });

  it.each([
    ["empty", ""],
    ["longer", `${signature}=`],
    ["with a newline", `${signature}\n`],
    ["non-ASCII of 28 characters", `${signature.slice(0, 26)}é=`],
    // 28 bytes of base64 have unused bits: decoded, this would be the same signature.
    ["another spelling of the same bytes", respell(signature)],
  ])("does not accept a signature that is %s", (_what, wrong) => {
    expect(verifySignature({ authToken, url, params, signature: wrong })).toBeUndefined();
  });

  it.each([
    ["https://h.test/x", "https://h.test/x", true, true],
    ["https://h.test/x", "https://h.test:443/x", false, true],
    ["https://h.test/x", "https://h.test:80/x", false, false],
    ["https://h.test:443/x", "https://h.test/x", false, true],
    ["https://h.test:8443/x", "https://h.test/x", false, true],
    ["https://h.test:8443/x", "https://h.test:443/x", false, false],
    ["http://h.test/x", "http://h.test:80/x", false, true],
    ["HTTP://h.test/x", "HTTP://h.test:80/x", false, true],
    ["https://[::1]:8443/x", "https://[::1]/x", false, true],
    ["https://h.test", "https://h.test:443", false, true],
    ["https://h.test?q=http://u:1/", "https://h.test:443?q=http://u:1/", false, true],
    ["https://bot:pw@h.test/x#rc=2", "https://h.test/x", true, true],
    ["https://h.test/x", "https://h.test/x/", false, false],
    ["https://h.test/x?a=@b", "https://h.test/x?a=@b", true, true],
    ["https://h.test/x?a=:1", "https://h.test/x?a=", false, false],
    // Not URLs, so they have no port or user info to remove.
    ["/x?u=https://bot:pw@h.test/x", "/x?u=https://bot:pw@h.test/x", true, true],
    ["h.test:443/x#rc=2", "h.test:443/x", true, true],
  ])("configured %s, signed %s: exact %j, ports %j", (configured, signed, ...found) => {
    const made = hmac(`${signed}a1`);
    const options = { authToken, url: configured, params: { a: "1" }, signature: made };
    const match = { authTokenIndex: 0, signedUrl: signed };
    const [exact, ports] = found.map((is) => (is ? match : undefined));
    expect(verifySignature({ ...options, urlMatching: "exact" })).toEqual(exact);
    expect(verifySignature({ ...options, urlMatching: "ports" })).toEqual(ports);
    expect(verifySignature(options)).toEqual(ports);
  });

  it("has no match for half a surrogate pair, which would be signed like U+FFFD", () => {
    const made = sign({ authToken, url, params: { a: "\ufffd" } });
    const given = { authToken, url, params: { a: "\ud800" }, signature: made };
    expect(verifySignature(given)).toBeUndefined();
  });
});

const anyText = fc.string({ unit: anyCharacter, maxLength: 12 });
const anyPairs = fc.array(fc.tuple(anyText, anyText), { maxLength: 8 });

describe("properties", () => {
  it("verifies any signed parameters, in any order", () => {
    fc.assert(
      fc.property(anyPairs, fc.stringMatching(/^[!-~](?:[ -~]*[!-~])?$/), (pairs, token) => {
        const signature = sign({ authToken: token, url, params: pairs });
        expect(isSignature(signature)).toBe(true);
        const reversed = { authToken: token, url, params: pairs.toReversed(), signature };
        expect(verifySignature(reversed)).toBeDefined();
      }),
    );
  });

  it("does not verify with one character added, dropped or changed", () => {
    const edit = fc.record({ at: fc.nat(), text: fc.string({ unit: anyCharacter, maxLength: 1 }) });
    fc.assert(
      fc.property(anyPairs, edit, fc.nat(), (pairs, { at, text }, which) => {
        const texts = [url, ...pairs.flat()];
        const index = which % texts.length;
        const characters = [...(texts[index] ?? "")];
        characters.splice(at % (characters.length + 1), 1, text);
        const [editedUrl = "", ...flat] = texts.with(index, characters.join(""));
        const edited = pairs.map((_, pair): [string, string] => [
          flat[pair * 2]!,
          flat[pair * 2 + 1]!,
        ]);
        const signature = sign({ authToken, url, params: pairs });
        // The signed text has no separators, and equal pairs count once: only another text differs.
        fc.pre(editedUrl.replace(/#.*$/s, "") + joinCut(edited) !== url + joinCut(pairs));
        fc.pre(editedUrl.startsWith("https://hooks.example.test/"));
        const given = { authToken, url: editedUrl, params: edited, signature };
        expect(verifySignature({ ...given, urlMatching: "exact" })).toBeUndefined();
      }),
    );
  });
});

function respell(signature: string) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const last = alphabet.indexOf(signature[26] ?? "");
  const respelled = `${signature.slice(0, 26)}${alphabet[last + 1]}=`;
  expect(Buffer.from(respelled, "base64")).toEqual(Buffer.from(signature, "base64"));
  return respelled;
}
