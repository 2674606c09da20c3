import { createHmac } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import {
  explainSignature,
  pushWebhooks,
  sign,
  verifySignature,
  type ExplainSignatureOptions,
  type Pair,
  type SignatureCause,
  type WebhookError,
} from "express-push-verification";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  encodeForm,
  PUBLIC_URL,
} from "../../../support/webhook-requests";
import { anyCharacter } from "../../../support/any-character";
import { loadCopy } from "../../../support/package-copy";
import { CONTROL, hostileText, listTexts } from "../../../support/control-characters";
import { collectVariants } from "../../../../lib/core/signature/explain/variants";

const OLD_TOKEN = "00112233445566778899aabbccddeeff";
const [NINE, SORTED] = ["?i&d&f&a&c&h&b&e&g", "?a&b&c&d&e&f&g&h&i"] as const;

/** A request, and the options of each mistake with it. The signature of the uuid has "+" and "/". */
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
  const signatureOf = (changed: Pair[], url_ = url) =>
    sign({ authToken: AUTH_TOKEN, url: url_, params: changed });
  /** The HMAC of a signed URL and the parameters, computed independently of the library. */
  const hmacOf = (signedUrl: string, algorithm = "sha1", encoding: "hex" | "base64" = "base64") =>
    createHmac(algorithm, AUTH_TOKEN)
      .update(signedUrl + params.toSorted().flat().join(""))
      .digest(encoding);
  const hex = hmacOf(url, "sha1", "hex");
  const body = encodeForm(params);

  const wrapped = (text: string | Buffer) => ({
    body: text,
    params: [...new URLSearchParams(text.toString("utf8"))],
  });
  /** A signed URL, the configured one, and the one that the request shows. */
  const at = (signedUrl: string, given: string, receivedUrl?: string) => ({
    signature: hmacOf(signedUrl),
    url: given,
    receivedUrl,
  });
  const query = (signed: string, given: string, received?: string) =>
    at(PUBLIC_URL + signed, PUBLIC_URL + given, received && PUBLIC_URL + received);
  const elsewhere = hmacOf("https://x.test/a");
  const base64 = Buffer.from(body).toString("base64");
  const row = (code: string, mistake: string, given: Partial<ExplainSignatureOptions>) =>
    [code, mistake, given] as const;
  const sent = (changed: string | undefined) => ({ signature: changed });
  const parsed = (changed: ExplainSignatureOptions["params"], raw?: typeof right.body) => ({
    params: changed,
    body: raw,
  });
  const given = (changed: string, receivedUrl?: string) => ({ url: changed, receivedUrl });
  const one = (signed: string, changed: string, name = "factor_friendly_name") => ({
    params: replace(name, changed),
    signature: signatureOf(replace(name, signed)),
  });
  const spaced = mapValues((value) => value.replaceAll("+", " "));
  const plussed = mapValues((value) => value.replaceAll(" ", "+"));
  const record = Object.fromEntries(params);
  const oneSpaced = replace("entity_identity", "user 7@example.com");
  const rows = [
    row(
      "PARAMS_CHARSET?",
      "ASCII",
      parsed(mapValues((value) => value.replaceAll(/[^\x20-\x7e]/g, "\uFFFD"))),
    ),
    row("PARAMS_MISSING?", "an unparsed body", parsed([])),
    row("URL_PATH?", "a prefix that no header shows", {
      ...sent(elsewhere),
      receivedUrl: "https://hooks.example.test/events",
    }),
    row("URL_PATH?", "a URL that is not shown", sent(elsewhere)),
    row("URL_HOST?", "a host that no header shows", {
      ...sent(elsewhere),
      receivedUrl: "http://10.0.0.7:3000/push/events",
    }),
    row("SIGNATURE_REPEATED?", "something else", sent("v1=4c2a,t=1709630092")),
    row("SIGNATURE_MISSING?", "no signature", sent(undefined)),
    row("SIGNATURE_MALFORMED", "8 characters of it", sent(signature.slice(0, 8))),
    row("SIGNATURE_MALFORMED?", "7 characters of it", sent(signature.slice(0, 7))),
    row("SIGNATURE_MALFORMED", "quotes around it", sent(`"${signature}"`)),
    row("SIGNATURE_MALFORMED", "folded", sent(`${signature.slice(0, 9)} ${signature.slice(9)}`)),
    row(
      "SIGNATURE_MALFORMED",
      "base64 for URLs",
      sent(Buffer.from(signature, "base64").toString("base64url")),
    ),
    row("SIGNATURE_MALFORMED", "spaces for plus", sent(signature.replaceAll("+", " "))),
    row("SIGNATURE_MALFORMED", "a prefix", sent(`sha1=${signature}`)),
    row("SIGNATURE_MALFORMED", "percent-encoded", sent(encodeURIComponent(signature))),
    row("SIGNATURE_MALFORMED", "lower case", sent(signature.toLowerCase())),
    row("SIGNATURE_REPEATED", "second of three", sent(`a, ${signature}, b`)),
    row("SIGNATURE_ALGORITHM", "hexadecimal with a prefix", sent(`sha1=${hex}`)),
    row("SIGNATURE_ALGORITHM", "SHA-256 in base64", sent(hmacOf(url, "sha256"))),
    row("SIGNATURE_ALGORITHM", "SHA-256 in hexadecimal", sent(hmacOf(url, "sha256", "hex"))),
    row("URL_SCHEME", "http for https", given(url.replace("https", "http"))),
    ...[80, 8080, 8443, 3000].map((port) =>
      row("URL_PORT", `${port} left out`, at(`https://a.test:${port}/x`, "https://a.test/x")),
    ),
    row(
      "URL_PORT",
      "a port that the request shows",
      at("https://a.test:99/x", "https://a.test/x", "https://a.test:99/x"),
    ),
    row("URL_HOST", "no www", at("https://www.a.test/x", "https://a.test/x")),
    row("URL_PATH", "two slashes", at("https://a.test/a/b", "https://a.test//a//b")),
    row("URL_PATH", "dots", at("https://a.test/a/c", "https://a.test/a/b/../c")),
    row("URL_PORT", "a default port, matched exactly", {
      ...given(url.replace("test/", "test:443/")),
      urlMatching: "exact",
    }),
    row("URL_TRAILING_SLASH", "a trailing slash too many", given(url.replace("?", "/?"))),
    row(
      "URL_TRAILING_SLASH",
      "a slash that the request shows",
      at("https://a.test/x/", "https://a.test/x", "https://a.test/x/"),
    ),
    row("URL_QUERY_MISSING", "a bare question mark", query("?", "")),
    row("URL_QUERY_MISSING", "a bare question mark that the request shows", query("?", "", "?")),
    row("URL_QUERY_MISSING", "half a query", query("?a=1&b=2", "?a=1", "?a=1&b=2")),
    row("URL_QUERY_EXTRA", "one for a bare mark", query("?", "?a=1", "?")),
    row("URL_QUERY_EXTRA", "one", at(PUBLIC_URL, `${PUBLIC_URL}?a=1`, PUBLIC_URL)),
    row("URL_QUERY_ENCODING", "%20 for plus", query("?q={a+b}", "?q={a%20b}")),
    row("URL_QUERY_ENCODING", "plus for %20", query("?q={a%20b}", "?q={a+b}")),
    row("URL_QUERY_ENCODING", "one sign", query("?q={a%3Ab@c}", "?q={a:b@c}")),
    row("URL_QUERY_ENCODING", "nine, which were sorted", query(SORTED, NINE)),
    row("URL_QUERY_EXTRA", "a bare question mark too many", query("", "?")),
    row("URL_QUERY_ENCODING", "a decoded query", given(decodeURIComponent(url))),
    row("URL_QUERY_ENCODING", "three sorted parameters", query("?c=1&a=2&b=3", "?a=2&b=3&c=1")),
    row("URL_QUERY_ENCODING", "six sorted parameters", query("?d&f&a&c&b&e", "?a&b&c&d&e&f")),
    row("URL_QUERY_ENCODING", "nine, where the request shows them", query(NINE, SORTED, NINE)),
    row("URL_QUERY_ENCODING", "nine, of which one moved", query("?b&c&d&e&f&g&h&i&a", SORTED)),
    row("URL_QUERY_ENCODING", "another order", query("?b=%20&a=/x'", "?a=/x'&b=%20")),
    row("URL_QUERY_ENCODING?", "nine parameters, sorted", query(NINE, SORTED, SORTED)),
    row("URL_HOST", "an IDN in ASCII", at("https://bücher.test/a", "https://xn--bcher-kva.test/a")),
    row("URL_HOST", "an IDN", at("https://xn--bcher-kva.test/a", "https://bücher.test/a")),
    row(
      "URL_HOST",
      "the proxy's host",
      given(url.replace("hooks.example.test", "10.0.0.7:8080"), url),
    ),
    row("URL_HOST", "www", given(url.replace("hooks", "www.hooks"))),
    row("URL_PATH", "signs, encoded", at("https://a.test/%7E%40%3Ame/x", "https://a.test/~@:me/x")),
    row("URL_PATH", "signs, decoded", at("https://a.test/~@:me/x", "https://a.test/%7E%40%3Ame/x")),
    row("URL_PATH", "lower-case hex", at("https://a.test/a%3ab", "https://a.test/a%3Ab")),
    row("URL_PATH", "an umlaut, encoded", at("https://a.test/f%C3%BCr", "https://a.test/für")),
    ...["/api", "/v1", "/api/v1", "/prod", "/stage", "/dev"].map((prefix) =>
      row("URL_PATH", `no ${prefix}`, at(`https://a.test${prefix}/push`, "https://a.test/push")),
    ),
    row("URL_PATH", "a prefix too many", at("https://a.test/push", "https://a.test/in/push")),
    row("URL_PATH", "the mount cut off", given(url.replace("/push", ""), url)),
    row("URL_PATH", "another case of the path", given(url.replace("/push", "/Push"))),
    row("OTHER_PRODUCT?", "JSON", query(`?bodySHA256=${uuid}`, "", `?bodySHA256=${uuid}`)),
    row("OTHER_PRODUCT?", "its URL, copied", query(`?bodySHA256=${uuid}`, "?bodySHA256=0")),
    row("BODY_WRAPPED", "base64 for URLs", wrapped(Buffer.from(body).toString("base64url"))),
    row("BODY_WRAPPED", "a JSON string of base64", wrapped(JSON.stringify(base64))),
    row(
      "BODY_WRAPPED",
      "an event of AWS Lambda",
      wrapped(JSON.stringify({ body: base64, isBase64Encoded: true })),
    ),
    row("BODY_WRAPPED", "JSON of a Buffer", wrapped(JSON.stringify(Buffer.from(body)))),
    row("BODY_WRAPPED", "single quotes", wrapped(`'${body}'`)),
    row("BODY_WRAPPED", "a byte order mark", wrapped(`\uFEFF${body}`)),
    row("BODY_WRAPPED", "the name of a parameter", wrapped(`${encodeURIComponent(body)}=`)),
    row("BODY_WRAPPED", "deflate", wrapped(deflateSync(body))),
    row("URL_WHITESPACE", "a line break in the variable", given(`${url}\n`)),
    row("TOKEN_WHITESPACE", "quotes around the token", { authToken: `"${AUTH_TOKEN}"` }),
    row("TOKEN_OTHER", "a rotation", { authToken: OLD_TOKEN, candidateTokens: [AUTH_TOKEN] }),
    row("TOKEN_OTHER", "a quoted one", {
      authToken: OLD_TOKEN,
      candidateTokens: [`"${AUTH_TOKEN}"`],
    }),
    row("TOKEN_WRONG?", "of its account", {
      authToken: OLD_TOKEN,
      receivedUrl: url,
      accountSid: ACCOUNT_SID,
    }),
    row("TOKEN_ACCOUNT?", "a request of another account", {
      authToken: OLD_TOKEN,
      accountSid: ACCOUNT_SID.replace("AC3", "AC4"),
    }),
    row("TOKEN_NOT_A_TOKEN?", "a SID for a token", { authToken: ACCOUNT_SID }),
    row("PARAMS_MISSING", "an unparsed body that is known", parsed([], body)),
    row("PARAMS_MISSING", "an object that is known", parsed([], record)),
    row("PARAMS_UNSIGNED?", "a body that is not signed", sent(signatureOf([]))),
    row("PARAMS_UNSIGNED?", "an object", { ...sent(signatureOf([])), params: record }),
    row("BODY_PARSED?", "an object", { params: record, authToken: OLD_TOKEN }),
    row("BODY_PARSED?", "a plus", parsed(oneSpaced, Object.fromEntries(oneSpaced))),
    row("PARAMS_ALTERED", "a changed value", parsed(replace("type", "x"), body)),
    row("PARAMS_PLUS", "spaces for all plus signs, and the body", parsed(spaced, body)),
    row("PARAMS_PLUS", "spaces for all", { params: spaced, signature: signatureOf(plussed) }),
    row("PARAMS_PLUS", "plus for all", { params: plussed, signature: signatureOf(spaced) }),
    row("PARAMS_PLUS", "two spaces in one value", one("a+b+c", "a b c")),
    row("PARAMS_PLUS", "the first space in one value", one("a+b c", "a b c")),
    row("PARAMS_PLUS", "plus for space in one value", one("a b", "a+b")),
    row("PARAMS_WHITESPACE", "added", one("Zoë", "  Zoë\t")),
    row("PARAMS_WHITESPACE", "a space cut at the end", one("Zoë ", "Zoë")),
    row("PARAMS_WHITESPACE", "trimmed much, and the body", {
      ...one("  Zoë\t ", "Zoë"),
      body: encodeForm(replace("factor_friendly_name", "  Zoë\t ")),
    }),
    row("PARAMS_WHITESPACE", "trimmed", one(" Zoë's phone", "Zoë's phone")),
    row("PARAMS_WHITESPACE", "cut at the end", one("Zoë's phone\n", "Zoë's phone")),
    row("PARAMS_ENCODED", "a percent sign", one("50%25 off", "50% off")),
    row("PARAMS_ENCODED", "values of a URL not decoded", parsed(mapValues(encodeURI))),
    row(
      "PARAMS_CHARSET",
      "composed letters",
      sent(signatureOf(mapValues((value) => value.normalize("NFD")))),
    ),
    row(
      "PARAMS_ENCODED",
      "values of a form not decoded",
      parsed(mapValues((value) => new URLSearchParams({ v: value }).toString().slice(2))),
    ),
    row("PARAMS_ENCODED", "decoded twice", one("a%20b", "a b", "entity_identity")),
    row(
      "PARAMS_CHARSET",
      "latin1",
      parsed(mapValues((value) => Buffer.from(value).toString("latin1"))),
    ),
    row(
      "PARAMS_ADDED",
      "the query among the body",
      parsed([["tenant", "blue sky"], ["next", "/a'b"], ...params]),
    ),
    row("PARAMS_ADDED", "a parameter too many", parsed([...params, ["_csrf", "1"]])),
    row("PARAMS_ADDED", "two", parsed([...params, ["_csrf", "1"], ["_method", "x"]])),
  ];
  return { params, url, signature, right, signatureOf, rows };
}

const { params, url, signature, right, signatureOf, rows: MISTAKES } = createExample("WB02");
const next = createExample("WB32");

/** Corrects the mistake that a proven cause names, as its fix says. */
function applyFix({ code, subject }: SignatureCause, given: ExplainSignatureOptions): void {
  if (code.startsWith("URL_")) given.url = subject ?? "";
  else if (code.startsWith("TOKEN_")) given.authToken = AUTH_TOKEN;
  else if (code === "BODY_WRAPPED" || code === "PARAMS_MISSING") given.params = next.params;
  else Object.assign(given, { params: next.params, signature: next.signature });
}

describe("explainSignature", () => {
  it.each(MISTAKES)("names the cause %s first, of %s, without a secret", (cause, _, changes) => {
    const spare = { candidateTokens: { spare: "an unused secret" } };
    const report = explainSignature({ ...spare, ...right, ...changes });
    const [first] = report.causes;
    expect(`${first?.code}${first?.isProven ? "" : "?"}`).toBe(cause);
    expect(report.matches).toBe(false);
    for (const { explanation, fix } of report.causes) {
      expect(explanation).toMatch(/^[A-Z].*\.$/);
      expect(fix).toMatch(/\.$/);
    }
    for (const secret of [AUTH_TOKEN, OLD_TOKEN, "unused", "biometrics", signature])
      expect(JSON.stringify(report)).not.toContain(secret);
  });

  it.each(MISTAKES.filter(([cause]) => !cause.endsWith("?")))(
    "has a fix of %s, %s, that mends the next request",
    (cause, mistake, changes) => {
      const { causes } = explainSignature({ ...right, ...changes });
      const same = next.rows.find(([code, what]) => code === cause && what === mistake);
      const fixed = { ...next.right, ...same?.[2] };
      for (const one of causes) applyFix(one, fixed);
      expect(verifySignature({ ...fixed, signature: fixed.signature ?? "" })).toBeDefined();
      pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: fixed.url });
    },
  );

  const codesOf = (given: Partial<ExplainSignatureOptions>) =>
    explainSignature({ ...right, ...given }).causes.map(({ code }) => code);
  const http = url.replace("https", "http");
  const added: Pair[] = [...params, ["_csrf", "1"]];
  const inner = { url: "http://10.0.0.7:8080/inner", receivedUrl: url };
  const other = { authToken: OLD_TOKEN, candidateTokens: [AUTH_TOKEN] };
  it.each<[string, Partial<ExplainSignatureOptions>]>([
    ["URL_SCHEME URL_TRAILING_SLASH", { url: http.replace("?", "/?") }],
    ["URL_QUERY_ENCODING PARAMS_ADDED", { url: new URL(url).href, params: added }],
    ["SIGNATURE_MALFORMED URL_SCHEME", { signature: signature.slice(0, 27), url: http }],
    ["URL_SCHEME URL_HOST URL_PATH URL_QUERY_MISSING", inner],
    ["PARAMS_ADDED TOKEN_OTHER", { ...other, params: added }],
    ["URL_SCHEME URL_TRAILING_SLASH TOKEN_OTHER", { ...other, url: http.replace("?", "/?") }],
  ])("proves combined mistakes by the signed URL: %s", (codes, given) => {
    const { causes } = explainSignature({ ...right, ...given });
    expect(causes.map(({ code }) => code).join(" ")).toBe(codes);
    for (const { code, isProven, subject } of causes) {
      expect(isProven).toBe(true);
      if (code.startsWith("URL_")) expect(subject).toBe(url);
    }
  });

  it.each([
    ["?a=1", "?a=1&"],
    ["#rc=2", "?"],
  ])("finds a GET whose parameters were removed from its URL with %j", (end, start) => {
    const called = `${PUBLIC_URL}${start}${encodeForm(params)}`;
    const get = { url: PUBLIC_URL + end, method: "GET" as const };
    const codes = codesOf({ ...get, signature: signatureOf([], called) });
    expect(codes).toEqual(["URL_QUERY_MISSING", "PARAMS_UNSIGNED"]);
    const isMissing = codesOf({ ...get, params: [] }).includes("URL_QUERY_MISSING");
    expect(isMissing).toBe(!end.startsWith("?"));
  });

  const hashed = `${url}&bodySHA256=0`;
  const fingerprint = "[0-9a-f]{8}";
  const renamed = (name: string, value: string) => ({
    params: { ...Object.fromEntries(params), [name]: value },
  });
  it.each<[string, string, Partial<ExplainSignatureOptions>]>([
    ["PARAMS_CHARSET", "type", renamed("type", "\uFFFD")],
    ["PARAMS_ENCODED", "challenge_details", renamed("challenge_details", "%7b")],
    ["TOKEN_NOT_A_TOKEN", fingerprint, { authToken: [OLD_TOKEN, ACCOUNT_SID] }],
    ["TOKEN_WRONG", `${fingerprint}, ${fingerprint} of ${ACCOUNT_SID}`, { authToken: ["x", "y"] }],
    [
      "TOKEN_WRONG",
      `${fingerprint} of ${ACCOUNT_SID}`,
      { params: [], method: "GET", url: `${url}&account_sid=${ACCOUNT_SID}` },
    ],
  ])("an unproven %s names %s", (code, subject, given) => {
    const { causes } = explainSignature({ ...right, authToken: OLD_TOKEN, ...given });
    const found = causes.find((cause) => cause.code === code)?.subject;
    expect(found).toMatch(new RegExp(`^${subject}$`));
  });

  it.each(["uuid", "entity_identity", "factor_sid"])("shows no %s of a query", (name) => {
    const report = explainSignature({ ...right, url: `${url}&${name}=hush` });
    expect(JSON.stringify(report)).not.toContain("hush");
  });

  it.each([
    ["one of several tokens", { authToken: [OLD_TOKEN, AUTH_TOKEN] }],
    ["the port of the scheme", { url: url.replace("test/", "test:443/") }],
    ["the hash of a body", { url: hashed, signature: signatureOf([...params], hashed) }],
  ])("reports a match with %s", (_what, given) => {
    expect(explainSignature({ ...right, ...given })).toMatchObject({ matches: true, causes: [] });
  });

  it("shows the tried tokens as fingerprints", () => {
    const { tried } = explainSignature({ ...right, authToken: [OLD_TOKEN, AUTH_TOKEN] });
    expect(tried.tokens).toEqual(Array(2).fill(expect.stringMatching(`^${fingerprint}$`)));
  });

  it("names the candidate token that signed", () => {
    const subjectOf = (candidateTokens: ExplainSignatureOptions["candidateTokens"]) =>
      explainSignature({ ...right, authToken: OLD_TOKEN, candidateTokens }).causes[0]?.subject;
    const labelled = new RegExp(`^${fingerprint} \\(${ACCOUNT_SID}\\)$`);
    expect(subjectOf({ [ACCOUNT_SID]: AUTH_TOKEN })).toMatch(labelled);
    expect(subjectOf([AUTH_TOKEN])).toHaveLength(8);
  });

  it("shows the URL of an unproven cause without its query", () => {
    expect(explainSignature({ ...right, authToken: OLD_TOKEN }).causes).toContainEqual(
      expect.objectContaining({ code: "URL_PATH", subject: PUBLIC_URL }),
    );
  });

  it("shows no subject that is longer than a parameter name", () => {
    const text = '{"entity_identity":"ada"}';
    const alone = { params: [[text, ""]] as Pair[], signature: signatureOf([]) };
    const report = explainSignature({ ...right, ...alone });
    expect(report.causes[0]).toMatchObject({ code: "PARAMS_ADDED", isProven: true });
    expect(JSON.stringify(report)).not.toContain("ada");
  });

  const sha256 = { signature: `${"a".repeat(43)}=` };
  const fill = (count: number, text: string): Pair[] =>
    Array.from({ length: count }, (_, index) => [`p${index}`, text]);
  it.each<[string, Partial<ExplainSignatureOptions>, most?: number]>([
    ["a webhook request that no mistake explains", {}],
    ["one value, of two algorithms", { ...sha256, params: fill(1, "+ ".repeat(32_000)) }, 50],
    ["values in another script", { params: fill(60, "+ %25\u00e9".repeat(140)) }],
    ["nested JSON", { params: fill(1, "[".repeat(20_000) + "]".repeat(20_000)) }],
    ["a query", { method: "GET", url: `${PUBLIC_URL}?${"a&".repeat(7_000)}`, params: [] }],
    ["1,000 values", { params: fill(1_000, "+ ".repeat(30)) }],
    ["1,000 tokens", { candidateTokens: fill(1_000, "").map(String) }],
    ["a long URL", { receivedUrl: `http://h/${"A".repeat(12_000)}` }],
    ["a host that no URL has", { receivedUrl: `https://a b/${"A".repeat(15_000)}` }],
  ])("tries a bounded number of combinations for 64 kB: %s", (_what, given, most = 5_000) => {
    const report = explainSignature({ ...right, authToken: OLD_TOKEN, ...given });
    const { combinations, urls, tokens } = report.tried;
    expect(combinations).toBeLessThanOrEqual(most);
    expect(urls.length).toBeLessThanOrEqual(20);
    expect(tokens.length).toBeLessThanOrEqual(50);
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

  it("shows no control character of any signature, URL or parameter", () => {
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

it("the engine is loaded by the first signature that does not match, not by the package", async () => {
  const loaded: string[] = [];
  const engine = join(__dirname, "../../../../lib/core/signature/explain");
  for (const file of readdirSync(engine)) {
    jest.doMock(join(engine, file), () => {
      loaded.push(file);
      return jest.requireActual<object>(join(engine, file));
    });
  }
  const push = loadCopy().pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  const errors: WebhookError[] = [];
  push.onRejected((error) => void errors.push(error));
  for (const text of ["malformed", signature]) {
    expect(loaded).toEqual([]);
    const headers = { "x-service-signature": text };
    await push.fetch(new Request(PUBLIC_URL, { method: "POST", headers }));
  }
  expect(loaded).toContain("explain-signature.ts");
  const codes = errors.map((error) => error.explain()?.causes[0]?.code);
  expect(codes).toEqual(["SIGNATURE_MALFORMED", "PARAMS_MISSING"]);
});
