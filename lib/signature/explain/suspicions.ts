import { asGivenBody, isJsonBody, isParsedBody, listBodyPairs } from "./bodies";
import { CAUSES } from "../../errors/signature-causes";
import type { SignatureCause, SignatureCauseCode } from "../../errors/signature-causes";
import type { ExplainSignatureOptions } from "./options";
import { findFormFault } from "./signatures";
import { fingerprint } from "./tokens";
import type { Pair } from "../../form/form";
import { isSid } from "../../form/sid";

/** The SIDs that are most often passed as an auth token. */
const TOKENLIKE_SIDS = ["AC", "SK", "VA", "YW"] as const;

/** Lists the causes that are likely but not proven, the likeliest first. */
export function listSuspicions(
  options: Omit<ExplainSignatureOptions, "params" | "signature">,
  params: readonly Pair[],
  received: string,
): SignatureCause[] {
  const suspicions: SignatureCause[] = [];
  const suspect = (code: SignatureCauseCode | undefined, subject?: string) => {
    if (code === undefined || suspicions.some((other) => other.code === code)) return;
    suspicions.push(createCause(code, false, subject));
  };
  const claimed = params.find(([name]) => name === "account_sid")?.[1];
  const { accountSid, authToken, body, method = "POST", url } = options;
  const tokens = typeof authToken === "string" ? [authToken] : authToken;

  const fault = findFormFault(received);
  suspect(fault);
  // Without a signature nothing was compared, so every other cause would be a guess.
  if (fault === "SIGNATURE_MISSING" || fault === "SIGNATURE_MALFORMED") return suspicions;
  if (isJsonBody(body)) suspect("BODY_JSON", "body");
  else if (params.length === 0 && method === "POST") {
    const isMalformed = asGivenBody(body) !== undefined && listBodyPairs(body) === undefined;
    suspect(isMalformed ? "PARAMS_MALFORMED" : "PARAMS_MISSING");
  }
  // Known changes were tried without a match, so the exact body is what helps to find another.
  if (isParsedBody(body)) suspect("BODY_PARSED");
  if (method === "GET" && !url.includes("?")) suspect("URL_QUERY_MISSING", url);
  if (claimed !== undefined && accountSid !== undefined && claimed !== accountSid) {
    suspect("TOKEN_ACCOUNT");
  }
  if (tokens.some((token) => TOKENLIKE_SIDS.some((prefix) => isSid(prefix, token)))) {
    suspect("TOKEN_NOT_A_TOKEN");
  }
  const garbled = params.find(([, value]) => value.includes("\uFFFD"));
  if (garbled !== undefined) suspect("PARAMS_CHARSET", garbled[0]);
  const nested = params.find(([, value]) => value === "[object Object]");
  if (nested !== undefined) suspect("PARAMS_ALTERED", nested[0]);
  suspect("TOKEN_WRONG", tokens.map(fingerprint).join(", "));
  suspect("URL_PATH", url.replace(/[?#].*$/s, ""));
  if (params.length > 0) suspect("PARAMS_ALTERED");
  return suspicions;
}

/** Creates a cause with its explanation and its fix. */
export function createCause(
  code: SignatureCauseCode,
  isProven: boolean,
  subject?: string,
): SignatureCause {
  const [explanation, fix] = CAUSES[code];
  return { code, isProven, explanation, fix, ...(subject !== undefined && { subject }) };
}
