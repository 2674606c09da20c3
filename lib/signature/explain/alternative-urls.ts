import type { SignatureCauseCode } from "./causes";
import { trimQuotes, Variants, type Variant } from "./variants";
import { decodeSafely, encodeSafely } from "../../form/text";
import { parseUrl } from "../../form/url";
import { listSignedUrls, stripUnsigned, type UrlMatching } from "../signature";

const MAX_URLS = 400;
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

/** Lists the URLs that may be signed instead of the given one: with one mistake, then with two. */
export function listUrls(url: string, urlMatching: UrlMatching, receivedUrl = ""): Variant[] {
  const variants = new Variants(MAX_URLS, MAX_CHARACTERS);
  const add = (text: string, causes: readonly SignatureCauseCode[], matching = urlMatching) => {
    for (const signedUrl of listSignedUrls(text, matching)) variants.add(signedUrl, causes);
  };
  add(url, []);
  const tidy = trimQuotes(url);
  if (tidy !== url) add(tidy, ["URL_WHITESPACE"]);
  const parts = splitUrl(stripUnsigned(tidy));
  const received = splitUrl(stripUnsigned(receivedUrl.trim()));
  if (parts === undefined) return variants.list;
  const changes = received === undefined ? [] : listMixtures(parts, received);
  changes.push(...listChanges(parts));
  for (const [causes, changed] of changes) {
    // A default port may be present or absent: that is not a mistake of its own.
    if (!variants.isFull) add(joinUrl(changed), causes, "ports");
  }
  for (const [causes, changed] of changes) {
    if (variants.isFull) break;
    for (const [more, changedTwice] of listChanges(changed)) {
      add(joinUrl(changedTwice), [...new Set([...causes, ...more])], "ports");
    }
  }
  return variants.list.slice(0, MAX_URLS);
}

function listChanges(parts: UrlParts): UrlChange[] {
  const { scheme, host, path, query } = parts;
  const bareHost = host.replace(/:\d+$/, "");
  const changes: UrlChange[] = [];
  const use = (code: SignatureCauseCode, part: Partial<UrlParts>) =>
    void changes.push([[code], { ...parts, ...part }]);
  use("URL_SCHEME", { scheme: scheme.toLowerCase() === "https://" ? "http://" : "https://" });
  for (const port of ["", ":443", ":80", ":8443", ":8080", ":3000"]) {
    use("URL_PORT", { host: bareHost + port });
  }
  use("URL_TRAILING_SLASH", { path: toggleSlash(path) });
  use("URL_HOST", { host: host.toLowerCase() });
  use("URL_HOST", { host: /^www\./i.test(host) ? host.slice(4) : `www.${host}` });
  for (const spelled of [path.toLowerCase(), path.replaceAll(/\/{2,}/g, "/"), decodeSafely(path)]) {
    use("URL_PATH", { path: spelled });
  }
  use("URL_PATH", { path: parseUrl(path, "http://h")?.pathname ?? path });
  if (query === undefined) return changes;
  use("URL_QUERY_EXTRA", { query: undefined });
  for (const encoded of listEncodings(query)) use("URL_QUERY_ENCODING", { query: encoded });
  return changes;
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

function compareQueries(given = "", received = ""): SignatureCauseCode {
  if (received === "") return "URL_QUERY_EXTRA";
  const isMissing = given === "" || received.startsWith(`${given}&`);
  return isMissing ? "URL_QUERY_MISSING" : "URL_QUERY_ENCODING";
}

/** Lists other encodings of the same query. */
function listEncodings(query: string): string[] {
  const decoded = decodeSafely(query.replaceAll("+", "%20"));
  return [
    query.replaceAll("%20", "+"),
    query.replaceAll("+", "%20"),
    query.replaceAll("%27", "'"),
    query.replaceAll("'", "%27"),
    query.replaceAll(/%[\dA-F]{2}/g, (hex) => hex.toLowerCase()),
    query.replaceAll(/%[\da-f]{2}/g, (hex) => hex.toUpperCase()),
    decoded,
    encodeSafely(decoded, encodeURI),
    new URLSearchParams(query).toString(),
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
