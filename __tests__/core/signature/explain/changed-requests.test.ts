/** What changed the body or the query is the first cause, before the token and the URL of the app. */
import zlib, { gzipSync } from "node:zlib";
import { explainSignature, sign } from "express-push-verification";
import { listUnwrapped } from "../../../../lib/core/signature/explain/bodies";
import { joinParams } from "../../../../lib/core/signature/signature";
import { AUTH_TOKEN, encodeForm, eventPairs, PUBLIC_URL } from "../../../support/webhook-requests";

const OTHER_TOKEN = "00112233445566778899aabbccddeeff";
const params = eventPairs("challenge.approved", "v2", {
  factor_friendly_name: "Zoë's phone + tablet",
  challenge_details: '{"message":"Sign in?","fields":[]}',
});
const form = encodeForm(params);
const json = JSON.stringify(Object.fromEntries(params));
const base64 = Buffer.from(form).toString("base64");
const lines = (text: string, end: string) => text.replaceAll(/.{76}/g, `$&${end}`);
const inForm = (name: string, value: string, more = "") =>
  `${name}=${encodeURIComponent(value)}${more}`;
const multipart = params
  .map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  .join("");
const quotedPrintable = (end: string) =>
  form.replaceAll("=", "=3D").replaceAll(/.{70}(?![0-9A-F]{0,2}=)/g, `$&=${end}`);
const latin1 = form.replaceAll("%C3%AB", "%EB");
const v1 = encodeForm(eventPairs("challenge.approved", "v1"));

/** A cause with "?" is not proven. */
const BODIES: [what: string, body: string | Buffer, cause?: string][] = [
  ["a form in payload= among others", inForm("payload", form, "&retry=1&source=gateway")],
  ["a form with plus signs in data=", `data=${String(new URLSearchParams({ a: form })).slice(2)}`],
  ["base64 in body= that is not encoded", `body=${base64}`],
  ["JSON in payload=", inForm("payload", json)],
  ["a form in a form in a form", inForm("a", inForm("b", form))],
  ["JSON", json, "BODY_JSON"],
  ["JSON after a line break", `\n${json}`, "BODY_JSON"],
  ["base64 in lines of 76, LF", `${lines(base64, "\n")}\n`],
  ["base64 of gzip in lines of 76", lines(gzipSync(form).toString("base64"), "\r\n")],
  ["lines of 76", lines(form, "\r\n")],
  ["quoted-printable", quotedPrintable("\r\n")],
  ["multipart", `${multipart}--x--\r\n`],
  ["gzip", gzipSync(form)],
  ["percent-encoded once more", encodeURIComponent(form)],
  ["HTML escapes", form.replaceAll("&", "&amp;")],
  ["UTF-16", Buffer.from(form, "utf16le")],
  ["UTF-16 with a byte order mark", Buffer.from(`\uFEFF${form}`, "utf16le")],
  ["ISO-8859-1", latin1],
  [
    "values encoded twice",
    encodeForm(params.map(([name, value]) => [name, encodeURIComponent(value)])),
  ],
  [
    "decomposed letters",
    encodeForm(params.map(([name, value]) => [name, value.normalize("NFD")])),
    "PARAMS_CHARSET",
  ],
  ["cut in the last value", form.slice(0, -3), "BODY_CUT?"],
  ["cut in half", form.slice(0, form.length / 2), "BODY_CUT?"],
  ["cut in a name", form.slice(0, form.indexOf("challenge_sid") + 4), "BODY_CUT?"],
  ["cut in an escape", form.slice(0, form.indexOf("%C3%AB") + 2), "BODY_CUT?"],
  ["cut after a parameter", form.slice(0, form.indexOf("&factor_sid")), "BODY_CUT?"],
  ["v1, cut in the last value", v1.slice(0, -3), "BODY_CUT?"],
  ["base64 that was cut", base64.slice(0, -40), "BODY_WRAPPED?"],
];

const readForm = (body: string | Buffer) => [...new URLSearchParams(body.toString("utf8"))];

it.each(BODIES)("%s is named first", (what, body, cause = "BODY_WRAPPED") => {
  const sent = what.startsWith("v1") ? eventPairs("challenge.approved", "v1") : params;
  const [url, receivedUrl] = [PUBLIC_URL, PUBLIC_URL];
  const signature = sign({ authToken: AUTH_TOKEN, url, params: sent });
  const given = { url, params: readForm(body), body, signature, receivedUrl };
  const [right] = explainSignature({ ...given, authToken: AUTH_TOKEN }).causes;
  expect(`${right?.code}${right?.isProven ? "" : "?"}`).toBe(cause);
  // Nothing is proven with another token, but the body is still another one than was signed.
  const [other] = explainSignature({ ...given, authToken: OTHER_TOKEN }).causes;
  if (!cause.startsWith("PARAMS_"))
    expect(other?.code).toMatch(/^BODY_|^PARAMS_(CHARSET|ENCODED)$/);
  expect(JSON.stringify([right, other])).not.toMatch(/Zo|user-7f3a/);
});

it.each([
  ["bytes that no encoding has", "%FF".repeat(20_000)],
  ["escapes of escapes", "%25".repeat(20_000)],
  ["soft line breaks", "=3D%C3%AB&amp;a=".repeat(4_000)],
  ["boundaries", `--\r\n${'--\r\nname="a"\r\n\r\n'.repeat(3_000)}`],
  ["NUL", "\0".repeat(60_000)],
])("what is inside a hostile body stays bounded: %s", (_what, body) => {
  const found = listUnwrapped(body);
  expect(found.length).toBeLessThan(20);
  for (const { pairs } of found) expect(joinParams(pairs).length).toBeLessThanOrEqual(131_072);
});

it("names what wraps a body, the outermost first", () => {
  expect(listUnwrapped(inForm("a", base64))).toContainEqual({
    by: "a parameter, base64",
    pairs: params,
  });
});

it("unzips no more than 128 kB", () => {
  const unzipped = jest.spyOn(zlib, "unzipSync");
  listUnwrapped(gzipSync(Buffer.alloc(1e6)));
  for (const { type } of unzipped.mock.results) expect(type).toBe("throw");
});

const QUERY = "?to=a b/c&m=it's~(x)*!&u=ü&at=me@x:1,2;3&l[0]=$&e=%";
const strict = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const java = (text: string) =>
  strict(text).replaceAll("%20", "+").replaceAll("%2A", "*").replaceAll("~", "%7E");
const php = (text: string) => strict(text).replaceAll("%20", "+");
const each = (encode: (text: string) => string) =>
  QUERY.slice(1)
    .split("&")
    .map((pair) => pair.split("=").map(encode).join("="))
    .join("&");
const lower = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const ENCODERS: Record<string, string> = {
  encodeURIComponent: each(encodeURIComponent),
  "RFC 3986": each(strict),
  Java: each(java),
  PHP: each(php),
  URLSearchParams: String(new URLSearchParams(each(encodeURIComponent))),
  "new URL()": new URL(`http://h/?${each(encodeURIComponent)}`).search.slice(1),
  "lower-case hex": lower(each(strict)),
  raw: each((text) =>
    text
      .replaceAll(" ", "%20")
      .replaceAll("%", "%25")
      .replaceAll("%2520", "%20")
      .replaceAll("ü", "%C3%BC"),
  ),
};
const pairs = Object.entries(ENCODERS).flatMap(([from, signed]) =>
  Object.entries(ENCODERS).flatMap(([to, given]) =>
    signed === given
      ? []
      : [[from, to, `${PUBLIC_URL}?${signed}`, `${PUBLIC_URL}?${given}`] as const],
  ),
);

it.each(pairs)("a query of %s, written again by %s, is named first", (...row) => {
  const [, , signedUrl, url] = row;
  for (const method of ["POST", "GET"] as const) {
    const signed = { authToken: AUTH_TOKEN, params: method === "GET" ? [] : params };
    const signature = sign({ ...signed, url: signedUrl });
    const report = explainSignature({ ...signed, signature, method, url, receivedUrl: url });
    expect(report.causes[0]).toMatchObject({ code: "URL_QUERY_ENCODING", isProven: true });
  }
});
