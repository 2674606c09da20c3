import { fingerprint } from "./alternative-tokens";
import { splitUrl } from "./alternative-urls";
import { listBodyPairs, listUnwrapped, parseJsonObject } from "./bodies";
import type { ExplainSignatureOptions } from "./options";
import { findFormFault } from "./signature-readings";
import { CAUSES } from "../../errors/signature-causes";
import type { SignatureCause, SignatureCauseCode } from "../../errors/signature-causes";
import { isRawBody } from "../../event/form";
import type { Pair } from "../../event/event-parameters";
import { ANY_SID, isSid } from "../../../kit/sid";
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
  if (parseJsonObject(body) !== undefined) suspect("BODY_JSON", "body");
  else if (listUnwrapped(body).some(({ pairs }) => isEvent(pairs) && !isEvent(params))) {
    suspect("BODY_WRAPPED");
  } else if (params.length === 0 && method === "POST") suspect("PARAMS_MISSING");
  // Known changes were tried without a match, so only the exact body can show another.
  if (body !== undefined && !isRawBody(body)) suspect("BODY_PARSED");
  if (method === "GET" && !url.includes("?")) suspect("URL_QUERY_MISSING", url);
  if (claimed !== undefined && accountSid !== undefined && claimed !== accountSid) {
    suspect("TOKEN_ACCOUNT");
  }
  const sid = tokens.find((token) => ANY_SID.test(token));
  if (sid !== undefined) suspect("TOKEN_NOT_A_TOKEN", fingerprint(sid));
  const garbled = params.find(([, value]) => value.includes("\uFFFD"));
  if (garbled !== undefined) suspect("PARAMS_CHARSET", garbled[0]);
  const [shown, seen] = [splitUrl(stripUnsigned(url)), splitUrl(receivedUrl)];
  const hasSameHost = seen === undefined || seen.host === shown?.host;
  const suspectUrl = () =>
    suspect(hasSameHost ? "URL_PATH" : "URL_HOST", url.replace(/[?#].*$/s, ""));
  // A proxy may change host and prefix without a header that shows them: the token is likelier only
  // if the request arrived at this very host and path.
  const isShown = hasSameHost && seen?.path === shown?.path;
  if (!isShown) suspectUrl();
  const parts = query.split("&");
  // The orders of more parameters are too many to try.
  if (
    parts.length > 6 &&
    parts.every((part, index) => index === 0 || part > (parts[index - 1] ?? ""))
  )
    suspect("URL_QUERY_ENCODING", url);
  const account = claimed === undefined ? "" : ` of ${claimed}`;
  suspect("TOKEN_WRONG", tokens.map(fingerprint).join(", ") + account);
  if (isShown) suspectUrl();
  if (params.length > 0) suspect("PARAMS_ALTERED");
  return suspicions;
}

function isEvent(pairs: readonly Pair[]): boolean {
  return pairs.some(([name]) => name === "uuid");
}

/** No change undoes these, so no later request can match. */
const NEVER_PROVEN = new Set<SignatureCauseCode>(["PARAMS_UNSIGNED"]);

/** Creates a cause with its explanation and its fix. */
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
