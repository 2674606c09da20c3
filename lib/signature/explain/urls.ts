import type { SignatureCauseCode } from "../../errors/signature-causes";
import { createVariants, trimQuotes } from "./variants";
import { decodeSafely, encodeSafely } from "../../form/percent-encoding";
import { listSignedUrls, stripUnsigned, type UrlMatching } from "../signature";
import { parseUrl } from "../../form/url";

const MAX_URLS = 400;
/** How many characters of URLs one report may change a second time; each takes about 20 ns. */
const MAX_WORK_CHARACTERS = 1_000_000;
/** The approximate number of URLs that `listChanges` returns. */
const CHANGES_PER_URL = 40;

/** The parts of a URL as text, without normalization. */
interface UrlParts {
  scheme: string;
  host: string;
  path: string;
  query: string | undefined;
}

type UrlChange = [causes: readonly SignatureCauseCode[], parts: UrlParts];

/** Lists the URLs that may be signed instead of the given one: with one mistake, then with two. */
export function listUrlVariants(url: string, urlMatching: UrlMatching, receivedUrl = "") {
  const variants = createVariants(MAX_URLS);
  const add = (text: string, causes: readonly SignatureCauseCode[], matching = urlMatching) => {
    for (const signedUrl of listSignedUrls(text, matching)) variants.add(signedUrl, causes);
  };
  add(url, []);
  const tidy = trimQuotes(url);
  if (tidy !== url) add(tidy, ["URL_WHITESPACE"]);
  const [fragment] = /#.*/s.exec(url) ?? [];
  if (fragment !== undefined) variants.add(stripUnsigned(url) + fragment, ["URL_FRAGMENT"]);
  const parts = splitUrl(stripUnsigned(tidy));
  if (parts === undefined) return variants.list;

  const changes = listChanges(parts);
  const received = splitUrl(stripUnsigned(receivedUrl.trim()));
  if (received !== undefined) changes.push(...listMixtures(parts, received));
  // A default port may be present or absent: that is not a mistake of its own.
  for (const [causes, changed] of changes) add(joinUrl(changed), causes, "ports");
  let workLeft = MAX_WORK_CHARACTERS;
  for (const [causes, changed] of changes) {
    // Only a hostile request has a URL so long that this limit is reached.
    workLeft -= CHANGES_PER_URL * joinUrl(changed).length;
    if (workLeft < 0) break;
    for (const [more, changedTwice] of listChanges(changed)) {
      add(joinUrl(changedTwice), [...new Set([...causes, ...more])], "ports");
    }
  }
  return variants.list;
}

function listChanges(parts: UrlParts): UrlChange[] {
  const { scheme, host, path, query } = parts;
  const other = scheme.toLowerCase() === "https://" ? "http://" : "https://";
  const bareHost = host.replace(/:\d+$/, "");
  const changes: UrlChange[] = [];
  const use = (part: Partial<UrlParts>, ...causes: SignatureCauseCode[]) =>
    void changes.push([causes, { ...parts, ...part }]);
  use({ scheme: other }, "URL_SCHEME");
  use({ scheme: other, host: bareHost }, "URL_SCHEME", "URL_PORT");
  for (const port of ["", ":443", ":80", ":8443", ":8080", ":3000"]) {
    use({ host: bareHost + port }, "URL_PORT");
  }
  use({ path: toggleSlash(path) }, "URL_TRAILING_SLASH");
  use({ host: host.toLowerCase() }, "URL_HOST");
  use({ host: /^www\./i.test(host) ? host.slice(4) : `www.${host}` }, "URL_HOST");
  for (const spelled of listPaths(path)) use({ path: spelled }, "URL_PATH");
  if (query === undefined) return changes;
  use({ query: undefined }, "URL_QUERY_EXTRA");
  for (const encoded of listEncodings(query)) use({ query: encoded }, "URL_QUERY_ENCODING");
  for (const ordered of listOrders(query)) use({ query: ordered }, "URL_QUERY_ORDER");
  return changes;
}

/** Lists every URL that combines parts of both URLs. */
function listMixtures(given: UrlParts, received: UrlParts): UrlChange[] {
  let mixtures: UrlChange[] = [[[], given]];
  const use = (cause: SignatureCauseCode, part: Partial<UrlParts>) => {
    const changed = mixtures.map(([causes, parts]): UrlChange => {
      return [[...causes, cause], { ...parts, ...part }];
    });
    mixtures = [...mixtures, ...changed];
  };
  if (given.scheme.toLowerCase() !== received.scheme.toLowerCase()) {
    use("URL_SCHEME", { scheme: received.scheme });
  }
  if (given.host !== received.host) {
    const hasSameName = given.host.replace(/:\d+$/, "") === received.host.replace(/:\d+$/, "");
    use(hasSameName ? "URL_PORT" : "URL_HOST", { host: received.host });
  }
  if (given.path !== received.path) {
    const isSlash = toggleSlash(given.path) === received.path;
    use(isSlash ? "URL_TRAILING_SLASH" : "URL_PATH", { path: received.path });
  }
  if (given.query !== received.query) {
    use(compareQueries(given.query, received.query), { query: received.query });
  }
  return mixtures.filter(([causes]) => causes.length > 0);
}

function compareQueries(given = "", received = ""): SignatureCauseCode {
  if (received === "") return "URL_QUERY_EXTRA";
  if (given === "" || received.startsWith(`${given}&`)) return "URL_QUERY_MISSING";
  return sortQuery(given) === sortQuery(received) ? "URL_QUERY_ORDER" : "URL_QUERY_ENCODING";
}

function listPaths(path: string): string[] {
  const spellings = [
    path.toLowerCase(),
    ...listEncodings(path),
    path.replaceAll(/\/{2,}/g, "/"),
    parseUrl(path, "http://h")?.pathname ?? path,
  ];
  // Some encodings of a query also encode slashes.
  return spellings.filter((spelled) => spelled === "" || spelled.startsWith("/"));
}

/** Lists other encodings of the same text. */
function listEncodings(text: string): string[] {
  const decoded = decodeSafely(text);
  return [
    text.replaceAll("%20", "+"),
    text.replaceAll("+", "%20"),
    text.replaceAll("%27", "'"),
    text.replaceAll("'", "%27"),
    text.replaceAll(/%[\dA-F]{2}/g, (hex) => hex.toLowerCase()),
    text.replaceAll(/%[\da-f]{2}/g, (hex) => hex.toUpperCase()),
    decoded,
    decodeSafely(text.replaceAll("+", "%20")),
    decoded.replaceAll(" ", "+"),
    encodeSafely(decoded, encodeURI),
    new URLSearchParams(text).toString(),
    text.replaceAll(/=(?=&|$)/g, ""),
    text.replaceAll(/(^|&)([^=&]+)(?=&|$)/g, "$1$2="),
    text
      .split("&")
      .map((pair) => pair.split("=").map(reencode).join("="))
      .join("&"),
  ];
}

function reencode(text: string): string {
  return encodeSafely(decodeSafely(text.replaceAll("+", "%20")));
}

function listOrders(query: string): string[] {
  const pairs = query.split("&");
  if (pairs.length < 2 || pairs.length > 4) return [sortQuery(query), pairs.toReversed().join("&")];
  return permute(pairs).map((ordered) => ordered.join("&"));
}

function permute(items: readonly string[]): string[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permute(items.toSpliced(index, 1)).map((rest) => rest.toSpliced(0, 0, item)),
  );
}

function sortQuery(query: string): string {
  return query.split("&").toSorted().join("&");
}

function toggleSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
}

function splitUrl(url: string): UrlParts | undefined {
  const [, scheme, host = "", path = "", query] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?]*)([^?]*)(?:\?(.*))?$/is.exec(url) ?? [];
  return scheme === undefined ? undefined : { scheme, host, path, query };
}

function joinUrl({ scheme, host, path, query }: UrlParts): string {
  return scheme + host + path + (query === undefined ? "" : `?${query}`);
}
