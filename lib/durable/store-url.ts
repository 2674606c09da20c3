import { isPort } from "./connection-options";

/** The parts of the URL of a store, decoded. */
interface StoreUrl {
  user: string;
  password: string;
  /** Without the brackets of IPv6; "" when the URL has none. */
  host: string;
  port: number | undefined;
  /** Without its first slash. */
  path: string;
  parameters: URLSearchParams;
}

const PARTS = /^\w+:\/\/(?:([^/?#]*)@)?([^/?#]*)\/?([^?#]*)(?:\?([^#]*))?(#)?/;
const ADDRESS = /^(?:\[([\da-f:.]+(?:%\w+)?)\]|([^:[\]]*))(?::(.*))?$/i;
const SPECIAL = "Percent-encode its user and password: # is %23, / is %2F, ? is %3F, @ is %40.";

/**
 * Reads the URL of a store.
 *
 * @returns its parts, or a text about its mistake, which shows nothing of the URL: it may hold a
 *   password.
 */
export function readStoreUrl(url: string): StoreUrl | string {
  // new URL() would remove some of them.
  if (/[\s\p{C}]/u.test(url)) {
    return "It has a space or a line break: remove it, or percent-encode it (a space is %20).";
  }
  const [, userInfo, address = "", rawPath = "", query = "", hash] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  // An @ after the address: the user info ends too early.
  const isCut =
    userInfo === undefined ? `${rawPath}${query}` : `${rawPath}${[...parameters.keys()].join()}`;
  if (hash !== undefined) return `It has a #. ${SPECIAL}`;
  if (isCut.includes("@")) return `It has a / or ? before its @. ${SPECIAL}`;
  const parts = [...splitAtColon(userInfo ?? ""), rawPath].map(decode);
  const [user, password, path] = parts;
  if (user === undefined || password === undefined || path === undefined) {
    return "It has a % that is not followed by two hexadecimal digits: percent-encode it as %25.";
  }
  const place = readAddress(address);
  return typeof place === "string" ? place : { user, password, ...place, path, parameters };
}

function readAddress(address: string): Pick<StoreUrl, "host" | "port"> | string {
  if (address.includes(",")) {
    return "It names several hosts: a URL has one. Pass the URL of the primary, or options of a cluster or of sentinels.";
  }
  const found = ADDRESS.exec(address);
  if (found === null || found[3]?.includes(":") === true) {
    return "Its host and port cannot be told apart: write an IPv6 address in brackets, such as [::1]:6379, and an @ before the host.";
  }
  const [, ipv6, name = "", port = ""] = found;
  const host = ipv6 ?? decode(name);
  if (host === undefined || !/^[\p{L}\p{M}\p{N}._~/:%-]*$/u.test(host)) {
    return "Its host has a character that no host has: was a variable not replaced?";
  }
  if (port !== "" && !isPort(port)) return "Its port must be a number from 1 to 65535.";
  return { host, port: port === "" ? undefined : Number(port) };
}

function splitAtColon(userInfo: string): [user: string, password: string] {
  const at = userInfo.indexOf(":");
  return at === -1 ? [userInfo, ""] : [userInfo.slice(0, at), userInfo.slice(at + 1)];
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
