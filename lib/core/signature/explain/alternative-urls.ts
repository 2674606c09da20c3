import { domainToUnicode } from "node:url";
import type { SignatureCauseCode } from "../../errors/signature-causes";
import { collectVariants, trimQuotes, type Variant } from "./variants";
import { decodeSafely, encodeSafely } from "../../../kit/text";
import { isHttpUrl, parseUrl } from "../../../kit/url";
import { listSignedUrls, stripUnsigned, type UrlMatching } from "../signed-urls";

const MAX_URLS = 800;
/** They have 720 orders. */
const MAX_ORDERED = 6;
/** After all other mistakes in the URL. */
const ORDER_RANK = 5;
/** How many characters of URLs one report may create. */
const MAX_CHARACTERS = 200_000;

/** The parts of a URL as text, without normalization. */
interface UrlParts {
  scheme: string;
  host: string;
  path: string;
  query: string | undefined;
}

type UrlChange = [causes: readonly SignatureCauseCode[], parts: UrlParts];

/** Returns whether a URL is as given, or one that a fix can make the publicUrl. */
function isUsable({ value, causes }: Variant): boolean {
  return causes.length === 0 || isHttpUrl(value);
}

/** Lists the URLs that may be signed instead of the given one: with one mistake, then with two. */
export function listUrls(url: string, urlMatching: UrlMatching, receivedUrl = ""): Variant[] {
  const urls = collectVariants(varyUrl(url, urlMatching, receivedUrl), MAX_URLS, MAX_CHARACTERS);
  // After collecting, so that each counts.
  return [...urls.filter(isUsable), ...varyOrder(url)];
}

/**
 * Lists the URL with its parameters in other orders, as a log or a proxy may sort them: few parameters
 * in every order, of more one has moved.
 */
function varyOrder(url: string): Variant[] {
  const [base = "", query = ""] = stripUnsigned(url.trim()).split(/\?(.*)/s);
  const parts = query.split("&");
  if (parts.length < 3) return [];
  const orders = parts.length > MAX_ORDERED ? moveOne(parts) : listOrders(parts);
  return collectVariants(spellOrders(base, orders), MAX_URLS, MAX_CHARACTERS);
}

function* spellOrders(base: string, orders: Iterable<readonly string[]>): Generator<Variant> {
  for (const order of orders) {
    const value = `${base}?${order.join("&")}`;
    yield { value, causes: ["URL_QUERY_ENCODING"], rank: ORDER_RANK };
  }
}

function listOrders(parts: readonly string[]): string[][] {
  let orders: string[][] = [[]];
  for (const part of parts) {
    orders = orders.flatMap((order) =>
      Array.from({ length: order.length + 1 }, (_, index) => order.toSpliced(index, 0, part)),
    );
  }
  return orders;
}

function* moveOne(parts: readonly string[]): Generator<string[]> {
  for (const [from, part] of parts.entries()) {
    const others = parts.toSpliced(from, 1);
    for (const to of parts.keys()) yield others.toSpliced(to, 0, part);
  }
}

function* varyUrl(url: string, urlMatching: UrlMatching, receivedUrl: string): Generator<Variant> {
  const spell = (text: string, causes: readonly SignatureCauseCode[], matching = urlMatching) =>
    listSignedUrls(text, matching).map((value): Variant => ({ value, causes }));
  yield* spell(url, []);
  const tidy = trimQuotes(url);
  yield* spell(tidy, ["URL_WHITESPACE"]);
  const parts = splitUrl(stripUnsigned(tidy));
  const received = splitUrl(stripUnsigned(receivedUrl.trim()));
  if (parts === undefined) return;
  const mixtures = received === undefined ? [] : listMixtures(parts, received);
  const changes = [...mixtures, ...changeUrl(parts)];
  // A default port may be present or absent: that is not a mistake of its own.
  for (const [causes, changed] of changes) yield* spell(joinUrl(changed), causes, "ports");
  for (const [causes, changed] of changes) {
    for (const [more, changedTwice] of changeUrl(changed)) {
      yield* spell(joinUrl(changedTwice), [...new Set([...causes, ...more])], "ports");
    }
  }
}

function* changeUrl(parts: UrlParts): Generator<UrlChange> {
  const { scheme, host, path, query } = parts;
  const bareHost = host.replace(/:\d+$/, "");
  const use = (code: SignatureCauseCode, part: Partial<UrlParts>): UrlChange => [
    [code],
    { ...parts, ...part },
  ];
  yield use("URL_SCHEME", { scheme: scheme.toLowerCase() === "https://" ? "http://" : "https://" });
  for (const port of ["", ":443", ":80", ":8443", ":8080", ":3000"]) {
    yield use("URL_PORT", { host: bareHost + port });
  }
  yield use("URL_TRAILING_SLASH", { path: toggleSlash(path) });
  yield use("URL_HOST", { host: host.toLowerCase() });
  yield use("URL_HOST", { host: /^www\./i.test(host) ? host.slice(4) : `www.${host}` });
  yield use("URL_HOST", { host: respellHost(host, bareHost) });
  for (const spelled of [
    path.toLowerCase(),
    path.replaceAll(/\/{2,}/g, "/"),
    parseUrl(path, "http://h")?.pathname ?? path,
    ...respell(path),
    path.replace(/^\/[^/]+(?=\/)/, ""),
    ...COMMON_PREFIXES.map((prefix) => prefix + path),
  ]) {
    yield use("URL_PATH", { path: spelled });
  }
  if (query === undefined) {
    yield use("URL_QUERY_MISSING", { query: "" });
    return;
  }
  yield use("URL_QUERY_EXTRA", { query: undefined });
  for (const encoded of listEncodings(query)) yield use("URL_QUERY_ENCODING", { query: encoded });
}

/** Lists every URL that combines parts of both URLs. */
function listMixtures(given: UrlParts, received: UrlParts): UrlChange[] {
  let mixtures: UrlChange[] = [[[], given]];
  const use = (code: SignatureCauseCode, name: keyof UrlParts) => {
    if (given[name] === received[name]) return;
    const changed = mixtures.map(([causes, parts]): UrlChange => {
      return [[...causes, code], { ...parts, [name]: received[name] }];
    });
    mixtures = [...mixtures, ...changed];
  };
  const hasSameName = given.host.replace(/:\d+$/, "") === received.host.replace(/:\d+$/, "");
  const isSlash = toggleSlash(given.path) === received.path;
  use("URL_SCHEME", "scheme");
  use(hasSameName ? "URL_PORT" : "URL_HOST", "host");
  use(isSlash ? "URL_TRAILING_SLASH" : "URL_PATH", "path");
  use(compareQueries(given.query, received.query), "query");
  return mixtures.slice(1);
}

function compareQueries(given?: string, received?: string): SignatureCauseCode {
  if (received === undefined || (received === "" && given !== undefined)) return "URL_QUERY_EXTRA";
  const isMissing = !given || received.startsWith(`${given}&`);
  return isMissing ? "URL_QUERY_MISSING" : "URL_QUERY_ENCODING";
}

/** The characters that URL encoders disagree about. */
const DISPUTED = "~@:!$'()*,;";
/** What a gateway often removes from the path, alone or two together. */
const COMMON_PREFIXES = ["/api", "/v1", "/prod", "/stage", "/dev"];

/** Lists other encodings of the same path or query. */
function respell(text: string): string[] {
  const decoded = decodeSafely(text);
  return [
    text.replaceAll(ESCAPE, (hex) => hex.toLowerCase()),
    text.replaceAll(ESCAPE, (hex) => hex.toUpperCase()),
    decoded,
    encodeSafely(decoded, encodeURI),
    ...[DISPUTED, ...DISPUTED.split("")].flatMap((characters) => [
      text.replaceAll(NOT_PLAIN, (one) => (characters.includes(one) ? escapeOne(one) : one)),
      text.replaceAll(ESCAPE, (hex) => {
        const one = decodeSafely(hex);
        return characters.includes(one) ? one : hex;
      }),
    ]),
  ];
}

const ESCAPE = /%[\dA-F]{2}/gi;
const NOT_PLAIN = /[^\w/%-]/g;
const escapeOne = (one: string) =>
  `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Returns the name of a host in Unicode, or that in Unicode in ASCII. */
function respellHost(host: string, bareHost: string): string {
  const ascii = parseUrl(`http://${bareHost}`)?.hostname ?? bareHost;
  const other = ascii === bareHost.toLowerCase() ? domainToUnicode(ascii) : ascii;
  return other + host.slice(bareHost.length);
}

/** The characters that encoders of a query keep: of JavaScript, RFC 3986, forms, PHP, and `new URL()`. */
const KEPT = ["!'()*~", "!()*~", "~", "*", "", "!()*~@:,;/?$[]", "!'()*~@:,;/?$[]"];

/** Encodes a part of a query again, except the characters that an encoder keeps. */
function encodeAgain(text: string, kept: string, space: string): string {
  return decodeSafely(text.replaceAll("+", " ")).replaceAll(/[^\w.-]/gu, (one) => {
    if (one === " ") return space;
    if (kept.includes(one)) return one;
    return one < "\x80" ? escapeOne(one) : encodeSafely(one);
  });
}

/** Lists other encodings of the same query. */
function listEncodings(query: string): string[] {
  const encoded = KEPT.flatMap((kept) =>
    ["%20", "+"].map((space) =>
      query.replaceAll(/[^&=]+/g, (text) => encodeAgain(text, kept, space)),
    ),
  );
  return [
    query.replaceAll("%20", "+"),
    query.replaceAll("+", "%20"),
    ...encoded,
    ...encoded.map((one) => one.replaceAll(ESCAPE, (hex) => hex.toLowerCase())),
    ...respell(query),
    query.split("&").toSorted().join("&"),
    query.split("&").toReversed().join("&"),
  ];
}

function toggleSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
}

/** Splits a URL as text; undefined for a text without a scheme. */
export function splitUrl(url: string): UrlParts | undefined {
  const [, scheme, host = "", path = "", query] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?]*)([^?]*)(?:\?(.*))?$/is.exec(url) ?? [];
  return scheme === undefined ? undefined : { scheme, host, path, query };
}

function joinUrl({ scheme, host, path, query }: UrlParts): string {
  return scheme + host + path + (query === undefined ? "" : `?${query}`);
}
