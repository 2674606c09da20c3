import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import {
  explainSignature,
  pushWebhooks,
  sign,
  verifySignature,
  type ExplainSignatureOptions,
  type Pair,
  type SignatureCause,
} from "express-push-verification";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  encodeForm,
  PUBLIC_URL,
} from "../../support/webhook-requests";
import { anyCharacter } from "../../support/any-character";
import { TYPESCRIPT } from "../../support/child-processes";
import { CONTROL, hostileText, listTexts } from "../../support/control-characters";
import { ROOT } from "../../support/docs";
import { collectVariants } from "../../../lib/signature/explain/variants";

const OLD_TOKEN = "00112233445566778899aabbccddeeff";
const [NINE, SORTED] = ["?i&d&f&a&c&h&b&e&g", "?a&b&c&d&e&f&g&h&i"] as const;

/** A webhook request, and the options of each mistake with it, by the code of its cause. */
function createExample(uuid: string) {
  const params = eventPairs("challenge.approved", "v2", {
    uuid,
    factor_friendly_name: "Zoë's phone + tablet",
    entity_identity: "user+7@example.com",
  });
  const url = `${PUBLIC_URL}?tenant=blue%20sky&next=/a'b`;
  const signature = sign({ authToken: AUTH_TOKEN, url, params });
  const right: ExplainSignatureOptions = { authToken: AUTH_TOKEN, url, params, signature };

  const mapValues = (change: (value: string) => string): Pair[] =>
    params.map(([name, value]) => [name, change(value)]);
  const replace = (name: string, value: string): Pair[] =>
    params.map((pair) => (pair[0] === name ? [name, value] : pair));
  const signedWith = (changed: Partial<ExplainSignatureOptions>, url_ = url) =>
    sign({ authToken: AUTH_TOKEN, url: url_, params, ...(changed as object) });
  /** The HMAC of a signed URL and the parameters, computed independently of the library. */
  const hmacOf = (signedUrl: string, algorithm = "sha1", encoding: "hex" | "base64" = "base64") =>
    createHmac(algorithm, AUTH_TOKEN)
      .update(signedUrl + params.toSorted().flat().join(""))
      .digest(encoding);
  const hex = hmacOf(url, "sha1", "hex");
  const body = encodeForm(params);

  const wrapped = (text: string | Buffer) => ({ body: text, params: parseForm(text) });
  /** A signed URL, the configured one, and the one that the request shows. */
  const at = (signedUrl: string, given: string, receivedUrl?: string) => ({
    signature: hmacOf(signedUrl),
    url: given,
    receivedUrl,
  });
  /** The same for queries of publicUrl. */
  const query = (signed: string, given: string, received?: string) =>
    at(PUBLIC_URL + signed, PUBLIC_URL + given, received && PUBLIC_URL + received);
  const elsewhere = hmacOf("https://x.test/a");
  const base64 = Buffer.from(body).toString("base64");
  const mistakes: Record<string, Record<string, Partial<ExplainSignatureOptions>>> = {
    "PARAMS_CHARSET?": {
      ASCII: { params: mapValues((value) => value.replaceAll(/[^\x20-\x7e]/g, "\uFFFD")) },
    },
    "PARAMS_MISSING?": { "an unparsed body": { params: [] } },
    "URL_PATH?": {
      "a prefix that no header shows": {
        signature: elsewhere,
        receivedUrl: "https://hooks.example.test/events",
      },
      "a URL that is not shown": { signature: elsewhere },
    },
    "URL_HOST?": {
      "a host that no header shows": {
        signature: elsewhere,
        receivedUrl: "http://10.0.0.7:3000/push/events",
      },
    },
    "SIGNATURE_REPEATED?": {
      "something else": { signature: "v1=4c2a,t=1709630092" },
    },
    "SIGNATURE_MISSING?": {
      "no signature": { signature: undefined },
      "an empty signature": { signature: "" },
    },
    SIGNATURE_MALFORMED: {
      "padding cut off": { signature: signature.slice(0, 27) },
      "half a signature": { signature: signature.slice(0, 14) },
      "a line break at the end": { signature: `${signature}\n` },
      "quotes around it": { signature: `"${signature}"` },
      folded: { signature: `${signature.slice(0, 9)} ${signature.slice(9)}` },
      "a prefix": { signature: `sha1=${signature}` },
      "percent-encoded": { signature: encodeURIComponent(signature) },
      "lower case": { signature: signature.toLowerCase() },
    },
    SIGNATURE_REPEATED: {
      "the header twice": { signature: `${signature}, ${signature}` },
    },
    SIGNATURE_ALGORITHM: {
      hexadecimal: { signature: hex },
      "hexadecimal with a prefix": { signature: `sha1=${hex}` },
      "SHA-256 in base64": { signature: hmacOf(url, "sha256") },
      "SHA-256 in hexadecimal": { signature: hmacOf(url, "sha256", "hex") },
    },
    URL_SCHEME: { "http for https": { url: url.replace("https", "http") } },
    URL_PORT: {
      "the port left out": { signature: hmacOf(url.replace("test/", "test:8443/")) },
      "a default port, matched exactly": {
        url: url.replace("test/", "test:443/"),
        urlMatching: "exact",
      },
    },
    URL_TRAILING_SLASH: { "a trailing slash too many": { url: url.replace("?", "/?") } },
    URL_QUERY_MISSING: {
      "a bare question mark": query("?", ""),
      "a bare question mark that the request shows": query("?", "", "?"),
      "no query": { url: PUBLIC_URL, receivedUrl: url },
    },
    URL_QUERY_EXTRA: {
      "a bare question mark too many": query("", "?"),
      "a query too many": query("", "?utm_source=x"),
    },
    URL_QUERY_ENCODING: {
      "new URL()": { url: new URL(url).href },
      "a decoded query": { url: decodeURIComponent(url) },
      URLSearchParams: { url: `${PUBLIC_URL}?${String(new URLSearchParams(url.split("?")[1]))}` },
      "lower-case hex": query("?a=%2F", "?a=%2f"),
      "three parameters, sorted": query("?c=1&a=2&b=3", "?a=2&b=3&c=1"),
      "six parameters, sorted": query("?d=1&f=2&a=3&c=4&b=5&e=6", "?a=3&b=5&c=4&d=1&e=6&f=2"),
      "nine parameters, sorted, where the request shows them": query(NINE, SORTED, NINE),
      "nine parameters, sorted, of which one had another place": query(
        "?b&c&d&e&f&g&h&i&a",
        SORTED,
      ),
      "an at sign": query("?a=b%40c", "?a=b@c"),
      "another order": { url: `${PUBLIC_URL}?next=/a'b&tenant=blue%20sky` },
    },
    "URL_QUERY_ENCODING?": { "nine parameters, sorted": query(NINE, SORTED, SORTED) },
    URL_HOST: {
      "an IDN in ASCII": at("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
      "an IDN in Unicode": at("https://xn--bcher-kva.example/a", "https://bücher.example/a"),
      "the proxy's host": {
        url: url.replace("hooks.example.test", "10.0.0.7:8080"),
        receivedUrl: url,
      },
      www: { url: url.replace("hooks", "www.hooks") },
    },
    URL_PATH: {
      "a tilde, encoded": at("https://a.test/%7Eme/x", "https://a.test/~me/x"),
      "a tilde, decoded": at("https://a.test/~me/x", "https://a.test/%7Eme/x"),
      "an at sign, encoded": at("https://a.test/%40me/x", "https://a.test/@me/x"),
      "an at sign, decoded": at("https://a.test/@me/x", "https://a.test/%40me/x"),
      "a colon, encoded": at("https://a.test/a%3Ab", "https://a.test/a:b"),
      "a colon in lower-case hex": at("https://a.test/a%3ab", "https://a.test/a%3Ab"),
      "an umlaut, encoded": at("https://a.test/f%C3%BCr", "https://a.test/für"),
      "a prefix that a proxy removes": at("https://a.test/api/push", "https://a.test/push"),
      "a prefix too many": at("https://a.test/push", "https://a.test/internal/push"),
      "the mount cut off": { url: url.replace("/push", ""), receivedUrl: url },
      "another case of the path": { url: url.replace("/push", "/Push") },
    },
    "OTHER_PRODUCT?": {
      "a message with JSON": query(`?bodySHA256=${uuid}`, "", `?bodySHA256=${uuid}`),
      "its URL, copied": query(`?bodySHA256=${uuid}`, "?bodySHA256=0"),
    },
    BODY_WRAPPED: {
      base64: wrapped(base64),
      "base64 for URLs": wrapped(Buffer.from(body).toString("base64url")),
      "base64 of base64": wrapped(Buffer.from(base64).toString("base64")),
      "base64 with a line break": wrapped(`${base64}\n`),
      "a JSON string": wrapped(JSON.stringify(body)),
      "a JSON string of base64": wrapped(JSON.stringify(base64)),
      "an event of AWS Lambda": wrapped(JSON.stringify({ body: base64, isBase64Encoded: true })),
      "JSON of a Buffer": wrapped(JSON.stringify(Buffer.from(body))),
      "single quotes": wrapped(`'${body}'`),
      "a line feed at the end": wrapped(`${body}\n`),
      "CRLF at the end": wrapped(`${body}\r\n`),
      "white space before it": wrapped(` \n${body}`),
      "a byte order mark": wrapped(`\uFEFF${body}`),
      "encoded twice": wrapped(encodeURIComponent(body)),
      "the name of a parameter": wrapped(`${encodeURIComponent(body)}=`),
      "HTML escapes": wrapped(body.replaceAll("&", "&amp;")),
      gzip: wrapped(gzipSync(body)),
      deflate: wrapped(deflateSync(body)),
      "base64 of gzip": wrapped(gzipSync(body).toString("base64")),
    },
    "BODY_WRAPPED?": {
      "base64, and a wrong token": { ...wrapped(base64), authToken: OLD_TOKEN },
    },
    URL_WHITESPACE: { "a line break in the variable": { url: `${url}\n` } },
    TOKEN_WHITESPACE: {
      "a line break after the token": { authToken: `${AUTH_TOKEN}\n` },
      "quotes around the token": { authToken: `"${AUTH_TOKEN}"` },
    },
    TOKEN_OTHER: {
      "a token after its rotation": { authToken: OLD_TOKEN, candidateTokens: [AUTH_TOKEN] },
      "another account's token": {
        authToken: OLD_TOKEN,
        candidateTokens: { [ACCOUNT_SID]: AUTH_TOKEN },
      },
    },
    "TOKEN_ACCOUNT?": {
      "a request of another account": {
        authToken: OLD_TOKEN,
        accountSid: ACCOUNT_SID.replace("AC3", "AC4"),
      },
    },
    "TOKEN_NOT_A_TOKEN?": { "a SID for a token": { authToken: ACCOUNT_SID } },
    "TOKEN_WRONG?": { "an unknown token": { authToken: OLD_TOKEN, receivedUrl: url } },
    PARAMS_MISSING: {
      "an unparsed body that is known": { params: [], body },
    },
    "PARAMS_UNSIGNED?": { "a body that is not signed": { signature: signedWith({ params: [] }) } },
    PARAMS_ALTERED: { "a changed value": { params: replace("type", "x"), body } },
    PARAMS_PLUS: {
      "spaces for all plus signs, and the body": {
        params: mapValues((value) => value.replaceAll("+", " ")),
        body,
      },
      "space for plus in one value": { params: replace("entity_identity", "user 7@example.com") },
    },
    PARAMS_WHITESPACE: {
      "trimmed much, and the body": {
        ...trimmed("  Zoë\t "),
        body: encodeForm(replace("factor_friendly_name", "  Zoë\t ")),
      },
      trimmed: trimmed(" Zoë's phone"),
      "cut at the end": trimmed("Zoë's phone\n"),
    },
    PARAMS_ENCODED: {
      "values not decoded": { params: mapValues(encodeURIComponent) },
      "values of a form not decoded": {
        params: mapValues((value) => new URLSearchParams({ v: value }).toString().slice(2)),
      },
      "decoded twice": {
        params: replace("entity_identity", "a b"),
        signature: signedWith({ params: replace("entity_identity", "a%20b") }),
      },
    },
    PARAMS_CHARSET: {
      latin1: { params: mapValues((value) => Buffer.from(value).toString("latin1")) },
    },
    PARAMS_ADDED: {
      "the query among the body": {
        params: [["tenant", "blue sky"], ["next", "/a'b"], ...params],
      },
      "a parameter too many": { params: [...params, ["_csrf", "1"]] },
    },
  };

  function trimmed(value: string): Partial<ExplainSignatureOptions> {
    const sent = replace("factor_friendly_name", value);
    return {
      params: replace("factor_friendly_name", value.trim()),
      signature: signedWith({ params: sent }),
    };
  }
  return { params, url, signature, right, signedWith, mistakes };
}

/** The parameters that the receiver reads from a body: none, if it is not a form. */
function parseForm(text: string | Buffer): Pair[] {
  return [...new URLSearchParams(text.toString("utf8"))];
}

const example = createExample("WB00000000000000000000000000000001");
const { params, url, signature, right, signedWith, mistakes: MISTAKES } = example;
const next = createExample("WB00000000000000000000000000000002");

/** Corrects the mistake that a proven cause names, as its fix says. */
function applyFix({ code, subject }: SignatureCause, given: ExplainSignatureOptions): void {
  if (code.startsWith("URL_")) given.url = subject ?? "";
  else if (code.startsWith("TOKEN_")) given.authToken = AUTH_TOKEN;
  else if (code === "BODY_WRAPPED" || code === "PARAMS_MISSING") given.params = next.params;
  else Object.assign(given, { params: next.params, signature: next.signature });
}

describe("explainSignature", () => {
  const table: object[] = [];
  afterAll(() => console.table(table));
  it.each(
    Object.entries(MISTAKES).flatMap(([cause, mistakes]) =>
      Object.entries(mistakes).map(([mistake, given]) => [mistake, cause, given] as const),
    ),
  )(
    "names the cause first, without a secret: %s is %s; a proven fix mends the next request",
    (mistake, cause, given) => {
      const spare = { candidateTokens: { spare: "an unused secret" } };
      const report = explainSignature({ ...spare, ...right, ...given });
      for (const secret of [AUTH_TOKEN, OLD_TOKEN, "unused", "biometrics", signature])
        expect(JSON.stringify(report)).not.toContain(secret);
      const [{ code, isProven } = { code: undefined, isProven: false }] = report.causes;
      table.push({ mistake, cause: code, proven: isProven });
      expect(`${code}${isProven ? "" : "?"}`).toBe(cause);
      expect(report.matches).toBe(false);
      for (const { explanation, fix } of report.causes) {
        expect(explanation).toMatch(/^[A-Z].*\.$/);
        expect(fix).toMatch(/\.$/);
      }
      if (!isProven) return;
      const fixed = { ...next.right, ...next.mistakes[cause]?.[mistake] };
      for (const one of report.causes) applyFix(one, fixed);
      expect(verifySignature({ ...fixed, signature: fixed.signature ?? "" })).toBeDefined();
      pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: fixed.url });
    },
  );

  it.each([
    [
      "two in the URL",
      { url: url.replace("https", "http").replace("?", "/?") },
      ["URL_SCHEME", "URL_TRAILING_SLASH"],
    ],
    [
      "URL and parameters",
      { url: new URL(url).href, params: [...params, ["_csrf", "1"]] as Pair[] },
      ["URL_QUERY_ENCODING", "PARAMS_ADDED"],
    ],
    [
      "token and URL",
      { authToken: OLD_TOKEN, candidateTokens: [AUTH_TOKEN], url: url.replace("https", "http") },
      ["URL_SCHEME", "TOKEN_OTHER"],
    ],
    [
      "signature and URL",
      { signature: signature.slice(0, 27), url: url.replace("https", "http") },
      ["SIGNATURE_MALFORMED", "URL_SCHEME"],
    ],
    [
      "every part of the URL",
      { url: "http://10.0.0.7:8080/inner", receivedUrl: url },
      ["URL_SCHEME", "URL_HOST", "URL_PATH", "URL_QUERY_MISSING"],
    ],
  ])("proves combined mistakes: %s", (_mistake, given, codes) => {
    const { causes } = explainSignature({ ...right, ...given });
    expect(causes.map(({ code }) => code)).toEqual(codes);
    expect(causes.every(({ isProven }) => isProven)).toBe(true);
  });

  it("finds a GET request whose parameters were removed from its URL", () => {
    const called = `${PUBLIC_URL}?${new URLSearchParams(params as [string, string][]).toString()}`;
    const get = { ...right, url: PUBLIC_URL, method: "GET" as const };
    const { causes } = explainSignature({ ...get, signature: signedWith({ params: [] }, called) });
    expect(causes.map(({ code }) => code)).toEqual(["URL_QUERY_MISSING", "PARAMS_UNSIGNED"]);
    expect(explainSignature({ ...get, params: [] }).causes[0]?.code).toBe("URL_QUERY_MISSING");
  });

  it("reports a match, with any of several tokens and with either port", () => {
    expect(explainSignature(right)).toMatchObject({ matches: true, causes: [] });
    const given = { authToken: [OLD_TOKEN, AUTH_TOKEN], url: url.replace("test/", "test:443/") };
    expect(explainSignature({ ...right, ...given })).toMatchObject({ matches: true, causes: [] });
  });

  it("shows tokens as fingerprints", () => {
    const { tried } = explainSignature({ ...right, authToken: [OLD_TOKEN, AUTH_TOKEN] });
    expect(tried.tokens).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}$/),
      expect.stringMatching(/^[0-9a-f]{8}$/),
    ]);
  });

  it("names the candidate token that signed", () => {
    const { causes } = explainSignature({
      ...right,
      authToken: OLD_TOKEN,
      candidateTokens: { [ACCOUNT_SID]: AUTH_TOKEN },
    });
    expect(causes[0]?.subject).toMatch(new RegExp(`^[0-9a-f]{8} \\(${ACCOUNT_SID}\\)$`));
  });

  it("shows the signed URL as the subject of a cause in the URL", () => {
    const given = { url: url.replace("https", "http").replace("?", "/?") };
    for (const { subject } of explainSignature({ ...right, ...given }).causes) {
      expect(subject).toBe(url);
    }
    const { causes } = explainSignature({ ...right, authToken: OLD_TOKEN });
    expect(causes.find(({ code }) => code === "URL_PATH")?.subject).toBe(PUBLIC_URL);
  });

  it("shows no subject that is longer than a parameter name", () => {
    const text = '{"entity_identity":"ada"}';
    const alone = { params: [[text, ""]] as Pair[], signature: signedWith({ params: [] }) };
    const report = explainSignature({ ...right, ...alone });
    expect(report.causes[0]).toMatchObject({ code: "PARAMS_ADDED", isProven: true });
    expect(JSON.stringify(report)).not.toContain("ada");
  });

  const fill = (count: number, text: string): Pair[] =>
    Array.from({ length: count }, (_, index) => [`p${index}`, text]);
  it.each<[string, Partial<ExplainSignatureOptions>]>([
    ["a webhook request that no mistake explains", {}],
    ["one value", { params: fill(1, "+ ".repeat(32_000)) }],
    ["values in another script", { params: fill(60, "+ %25\u00e9".repeat(140)) }],
    ["many values", { params: fill(200, "+ ".repeat(150)) }],
    ["JSON", { params: fill(60, `{"a":[${"0,".repeat(500)}0]}`) }],
    ["nested JSON", { params: fill(1, "[".repeat(20_000) + "]".repeat(20_000)) }],
    ["a query", { method: "GET", url: `${PUBLIC_URL}?${"a&".repeat(7_000)}`, params: [] }],
    ["1,000 values", { params: fill(1_000, "+ ".repeat(30)) }],
    ["1,000 tokens", { candidateTokens: fill(1_000, "").map(String) }],
    ["a long URL", { receivedUrl: `http://h/${"A".repeat(12_000)}` }],
    ["a host that no URL has", { receivedUrl: `https://a b/${"A".repeat(15_000)}` }],
    ["slashes in the URL", { receivedUrl: `http://h${"/".repeat(15_000)}` }],
  ])("tries a bounded number of combinations for 64 kB: %s", (_what, given) => {
    const report = explainSignature({ ...right, authToken: OLD_TOKEN, ...given });
    const { combinations, urls, tokens } = report.tried;
    expect(combinations).toBeLessThanOrEqual(5_000);
    expect([urls.length <= 20, tokens.length <= 50]).toEqual([true, true]);
    expect(JSON.stringify(report).length).toBeLessThan(16_384);
  });

  it.each([
    ["entries", 3, 100],
    ["characters", 100, 6],
  ])("creates no variant beyond a limit: %s", (_limit, maxEntries, maxCharacters) => {
    let created = 0;
    function* vary() {
      while (created < 10) yield { value: String(10 + created++), causes: [] };
    }
    expect(collectVariants(vary(), maxEntries, maxCharacters)).toHaveLength(3);
    expect(created).toBe(3);
  });

  it("does not throw for any signature, URL or parameter, and shows no control character", () => {
    const text = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 60 }), hostileText);
    fc.assert(
      fc.property(text, text, fc.array(fc.tuple(text, text), { maxLength: 3 }), (s, u, p) => {
        const given = { signature: s, url: `https://h/${u}`, params: p, receivedUrl: u, body: s };
        const report = explainSignature({ authToken: AUTH_TOKEN, ...given });
        expect(report.matches).toBe(false);
        expect(listTexts(report).join(" ")).not.toMatch(CONTROL);
      }),
      { numRuns: 50 },
    );
  });

  it.each([[""], [[]], [undefined]])("rejects the token %j", (authToken) => {
    expect(() => explainSignature({ ...right, authToken: authToken as string })).toThrow(TypeError);
  });
});

/** Rejects two webhook requests, and prints how many files of the engine are loaded after each step. */
const SCRIPT = `
  const counts = [];
  const count = () => counts.push(
    Object.keys(require.cache).filter((file) => /lib.signature.explain[^-][a-z-]+[.]ts$/.test(file)).length,
  );
  const { pushWebhooks } = require("./lib/index.ts");
  count();
  const push = pushWebhooks({ authToken: "a", publicUrl: "https://a.example/" });
  const errors = [];
  push.onRejected((error) => errors.push(error));
  const reject = (signature) => push.fetch(
    new Request("https://a.example/", { method: "POST", headers: { "x-service-signature": signature } }),
  );
  Promise.all(["malformed", "A".repeat(27) + "="].map(reject)).then(() => {
    count();
    const codes = errors.map((error) => error.explain().causes[0].code);
    count();
    console.log(JSON.stringify({ counts, codes }));
  });
`;

it("the engine is loaded by the first explain(), not by the package or a rejected request", async () => {
  const args = [...TYPESCRIPT, "-e", SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  const { counts, codes } = JSON.parse(stdout) as { counts: number[]; codes: string[] };
  expect(counts.slice(0, 2)).toEqual([0, 0]);
  expect(counts[2]).toBeGreaterThan(5);
  expect(codes.toSorted()).toEqual(["PARAMS_MISSING", "SIGNATURE_MALFORMED"]);
}, 30_000);
