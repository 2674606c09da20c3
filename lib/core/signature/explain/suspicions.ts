import { fingerprint } from "./alternative-tokens";
import { splitUrl } from "./alternative-urls";
import { isEvent, listBodyPairs, listUnwrapped, parseJsonObject, type GivenBody } from "./bodies";
import type { ExplainSignatureOptions } from "./options";
import { findFormFault } from "./signature-readings";
import { CAUSES } from "../../errors/signature-causes";
import type { SignatureCause, SignatureCauseCode } from "../../errors/signature-causes";
import { isRawBody } from "../../event/form";
import type { Pair } from "../../../kit/pairs";
import { KNOWN_NAMES, listParameterNames } from "../../event/event-parameters";
import { ANY_SID, isSid } from "../../../kit/sid";
import { parseJson } from "../../../kit/text";
import { stripUnsigned } from "../signed-urls";

/** Lists the causes that are likely but not proven, the likeliest first. */
export function listSuspicions(
  options: Omit<ExplainSignatureOptions, "params">,
  params: readonly Pair[],
  received: string,
): SignatureCause[] {
  const { accountSid, authToken, body, method = "POST", url, receivedUrl = "" } = options;
  const fault = findFormFault(received);
  // Without a signature nothing was compared, so every other cause would be a guess.
  if (fault === "SIGNATURE_MISSING") return [createCause(fault, false)];
  const suspicions: SignatureCause[] = [];
  const suspect = (code: SignatureCauseCode, subject?: string) =>
    void suspicions.push(createCause(code, false, subject));
  const [, query = ""] = stripUnsigned(url).split(/\?(.*)/s);
  const signed = [...params, ...(listBodyPairs(query) ?? [])];
  const claimed = signed.find(([name, value]) => name === "account_sid" && isSid("AC", value))?.[1];
  const tokens = [authToken].flat();

  if (fault !== undefined) suspect(fault);
  // First whether the request is another one than was signed: no setting of the app explains that.
  if (parseJsonObject(body) !== undefined) suspect("BODY_JSON", "body");
  else if (isWrapped(body, params)) suspect("BODY_WRAPPED");
  else if (isCut(body, params)) suspect("BODY_CUT");
  else if (params.length === 0 && method === "POST") suspect("PARAMS_MISSING");
  // Known changes were tried without a match, so only the exact body can show another.
  if (body !== undefined && !isRawBody(body)) suspect("BODY_PARSED");
  const garbled = params.find(([, value]) => value.includes("\uFFFD"));
  if (garbled !== undefined) suspect("PARAMS_CHARSET", garbled[0]);
  // JSON that is still encoded.
  const encoded = params.find(([, value]) => /^%7B/i.test(value));
  if (encoded !== undefined) suspect("PARAMS_ENCODED", encoded[0]);
  const parts = query.split("&");
  // The orders of more parameters are too many to try.
  if (
    parts.length > 6 &&
    parts.every((part, index) => index === 0 || part > (parts[index - 1] ?? ""))
  )
    suspect("URL_QUERY_ENCODING", url);
  if (method === "GET" && !url.includes("?")) suspect("URL_QUERY_MISSING", url);
  if (claimed !== undefined && accountSid !== undefined && claimed !== accountSid) {
    suspect("TOKEN_ACCOUNT");
  }
  const sid = tokens.find((token) => ANY_SID.test(token));
  if (sid !== undefined) suspect("TOKEN_NOT_A_TOKEN", fingerprint(sid));
  const [shown, seen] = [splitUrl(stripUnsigned(url)), splitUrl(receivedUrl)];
  const hasSameHost = seen === undefined || seen.host === shown?.host;
  const suspectUrl = () =>
    suspect(hasSameHost ? "URL_PATH" : "URL_HOST", url.replace(/[?#].*$/s, ""));
  // A proxy may hide a change of host and prefix: the token is likelier only if both are the same.
  const isShown = hasSameHost && seen?.path === shown?.path;
  if (!isShown) suspectUrl();
  const account = claimed === undefined ? "" : ` of ${claimed}`;
  suspect("TOKEN_WRONG", tokens.map(fingerprint).join(", ") + account);
  if (isShown) suspectUrl();
  if (params.length > 0) suspect("PARAMS_ALTERED");
  return suspicions;
}

/** Returns whether a body has more of an event inside another text than in its parameters. */
function isWrapped(body: GivenBody | undefined, params: readonly Pair[]): boolean {
  const text = isRawBody(body) ? Buffer.from(body as string).toString("latin1") : "";
  // A form has no line break and no NUL.
  const known = /[\r\n]/.test(text) || text.includes("\0") ? 0 : countKnown(params);
  return listUnwrapped(body).some(({ pairs }) => isEvent(pairs) && countKnown(pairs) > known);
}

const countKnown = (pairs: readonly Pair[]) =>
  pairs.filter(([name]) => KNOWN_NAMES.has(name)).length;

/** Returns whether the exact body of an event lacks a required parameter, or the end of the last one. */
function isCut(body: GivenBody | undefined, params: readonly Pair[]): boolean {
  if (!isRawBody(body) || countKnown(params) < 2) return false;
  if (/%[\dA-F]?$/i.test(Buffer.from(body as string).toString("latin1"))) return true;
  const [name = "", value = ""] = params.at(-1) ?? [];
  if (!KNOWN_NAMES.has(name)) return [...KNOWN_NAMES].some((known) => known.startsWith(name));
  const isPart = name.endsWith("_sid") ? !ANY_SID.test(value) : /^[{[]/.test(value);
  if (isPart && parseJson(value) === undefined) return true;
  const type = params.find(([one]) => one === "type")?.[1] ?? "";
  const names = new Set(params.map(([one]) => one));
  return listParameterNames(type, "v1").some((one) => !names.has(one));
}

/** No change undoes these, so no later request can match. */
const NEVER_PROVEN = new Set<SignatureCauseCode>(["PARAMS_UNSIGNED"]);

/** Creates a cause with its texts. */
export function createCause(
  code: SignatureCauseCode,
  isProven: boolean,
  subject?: string,
): SignatureCause {
  // Without a proof, the URL and the token are equal candidates.
  const isUndecided = !isProven && (code === "URL_HOST" || code === "URL_PATH");
  const [explanation, fix] = CAUSES[isUndecided ? "TOKEN_WRONG" : code];
  isProven &&= !NEVER_PROVEN.has(code);
  return { code, isProven, explanation, fix, ...(subject !== undefined && { subject }) };
}
