import { asGivenBody, type GivenBody } from "./explain-bodies";
import type { SignatureCauseCode, SignatureReport, Variant } from "./explain-causes";
import { listParamsVariants } from "./explain-params";
import { listSignatureReadings, type SignatureReading } from "./explain-signatures";
import { describe, listSuspicions } from "./explain-suspicions";
import { fingerprint, listTokenVariants } from "./explain-tokens";
import { listUrlVariants } from "./explain-urls";
import type { Pair } from "./form";
import { hideUserInfo } from "./url";
import {
  digest,
  joinParams,
  listPairs,
  listSignedUrls,
  type VerifySignatureOptions,
} from "./signature";

/** What {@link explainSignature} needs; the more it knows, the more it can prove. */
export interface ExplainSignatureOptions extends Omit<VerifySignatureOptions, "signature"> {
  /** The value of the signature header as received; undefined or empty when there was none. */
  signature: string | undefined;
  /** Other tokens that may have signed: a list, or a record by account or by any other name. */
  candidateTokens?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** The URL as the request shows it, where it differs from `url`. */
  receivedUrl?: string | undefined;
  /**
   * The body as received, before a parser changed it; if only the object is left that a parser made
   * of it, that object. @default `params`, where that is an object
   */
  body?: string | Uint8Array | Readonly<Record<string, string | readonly string[]>> | undefined;
  /** @default "POST" */
  method?: "GET" | "POST" | undefined;
  /** The account whose token `authToken` is. */
  accountSid?: string | undefined;
}

/** About 8 µs each. */
const MAX_COMBINATIONS = 5_000;
/** About 1.3 ns each in ASCII, 5 ns in other scripts. */
const MAX_HASHED_CHARACTERS = 6_000_000;
const MAX_SIGNATURE_CHARACTERS = 200;
const MAX_CHANGED_CHARACTERS = 65_536;
const MAX_CHANGED_PARAMS = 200;
/** The names that a report shows. */
const PARAMETER_NAME = /^[\w.[\]-]{1,64}$/;

/**
 * Explains why a signature does not match: signs again with every mistake that is known to happen,
 * alone and in pairs, and names the one that makes it match. Where none does, it names the
 * likeliest causes.
 *
 * The work for one report is bounded: at most 5,000 signatures over 6 million characters, some tens
 * of milliseconds of synchronous work. A large webhook request is tried with fewer mistakes. The
 * number of reports is not bounded here: do not call this function for each rejected request, use
 * {@link WebhookError.explain}, which has a budget.
 *
 * The report holds no token, no value of a parameter and no valid signature: it may be logged where
 * the URLs may be.
 *
 * @throws TypeError when there is no token.
 */
export function explainSignature(options: ExplainSignatureOptions): SignatureReport {
  const { url, urlMatching = "ports", method = "POST" } = options;
  const received = (options.signature ?? "").slice(0, MAX_SIGNATURE_CHARACTERS);
  const params = listPairs(options.params);
  const body = options.body ?? (method === "POST" ? asGivenBody(options.params) : undefined);
  const receivedUrl =
    options.receivedUrl ??
    (method === "GET" && params.length > 0 ? append(url, params) : undefined);
  const tokens = listTokenVariants(options);
  const isHuge = isTooLarge(url, params, body, receivedUrl);
  const urls: Variant<string>[] = isHuge
    ? listSignedUrls(url, urlMatching).map((value) => ({ value, causes: [] }))
    : listUrlVariants(url, urlMatching, receivedUrl);
  const sets: Variant<string>[] = isHuge
    ? [{ value: joinParams(params), causes: [] }]
    : listParamsVariants({ params, url, body });
  const { found, combinations } = search(urls, sets, tokens, listSignatureReadings(received));
  const proven = found?.map(({ code, subject }) => describe(code, true, subject));
  const causes = proven ?? listSuspicions({ ...options, body }, params, received);
  const show = (text: string) => showUrl(text, method);
  for (const cause of causes) {
    if (cause.subject === undefined) continue;
    // Not every name is one: of a body that is no form, it may be all of the text.
    if (cause.code.startsWith("PARAMS_") && !PARAMETER_NAME.test(cause.subject)) {
      delete cause.subject;
    } else cause.subject = show(cause.subject);
  }
  return {
    matches: proven?.length === 0,
    causes,
    tried: {
      urls: [...new Set(urls.map(({ value }) => show(value)))],
      tokens: [...new Set(tokens.map(({ value }) => fingerprint(value)))],
      combinations,
    },
  };
}

/** Whether there is too much of it to change it in every way that is known. */
function isTooLarge(
  url: string,
  params: readonly Pair[],
  body: GivenBody | undefined,
  receivedUrl = "",
): boolean {
  let characters = 0;
  for (const [name, value] of params) characters += name.length + value.length;
  return (
    characters > MAX_CHANGED_CHARACTERS ||
    ((typeof body === "string" || body instanceof Uint8Array) &&
      body.length > MAX_CHANGED_CHARACTERS) ||
    params.length > MAX_CHANGED_PARAMS ||
    url.length + receivedUrl.length > MAX_CHANGED_CHARACTERS / 4
  );
}

/** The URL of a GET call, whose parameters were taken out of it. */
function append(url: string, params: readonly Pair[]): string {
  const form = new URLSearchParams(params as [string, string][]).toString();
  return `${url.replace(/#.*$/s, "")}${url.includes("?") ? "&" : "?"}${form}`;
}

interface Finding {
  code: SignatureCauseCode;
  subject: string | undefined;
}

/** Signs every combination until one matches, as far as the work is bounded. */
function search(
  urls: readonly Variant<string>[],
  sets: readonly Variant<string>[],
  tokens: readonly Variant<string>[],
  readings: readonly SignatureReading[],
): { found: Finding[] | undefined; combinations: number } {
  const algorithms = [...new Set(readings.map(({ algorithm }) => algorithm))];
  let combinations = 0;
  if (readings.length === 0) return { found: undefined, combinations };
  let characters = 0;
  for (const [url, set, token] of combine(urls, sets, tokens)) {
    const text = url.value + set.value;
    characters += text.length * algorithms.length;
    if (combinations === MAX_COMBINATIONS || characters > MAX_HASHED_CHARACTERS) break;
    combinations++;
    for (const algorithm of algorithms) {
      const expected = digest(token.value, text, algorithm);
      const reading = readings.find((one) => one.algorithm === algorithm && one.matches(expected));
      if (reading === undefined) continue;
      const read = { causes: reading.causes, subject: undefined };
      const signed = { causes: url.causes, subject: url.value };
      return { found: listFindings(read, signed, set, token), combinations };
    }
  }
  return { found: undefined, combinations };
}

type Combination = [url: Variant<string>, set: Variant<string>, token: Variant<string>];

/**
 * How many mistakes in the token, the parameters and the URL are looked for, in this order: what is
 * cheap to try and what happens most comes first.
 */
const MISTAKES = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 0, 1],
  [0, 1, 0],
  [0, 0, 2],
  [0, 0, 3],
  [0, 0, 4],
  [1, 0, 1],
  [1, 1, 0],
  [0, 1, 1],
  [1, 0, 2],
  [0, 1, 2],
] as const;

function* combine(
  urls: readonly Variant<string>[],
  sets: readonly Variant<string>[],
  tokens: readonly Variant<string>[],
): Generator<Combination> {
  for (const [inToken, inSet, inUrl] of MISTAKES) {
    for (const token of withMistakes(tokens, inToken)) {
      for (const set of withMistakes(sets, inSet)) {
        for (const url of withMistakes(urls, inUrl)) yield [url, set, token];
      }
    }
  }
}

function withMistakes(all: readonly Variant<string>[], count: number): Variant<string>[] {
  return all.filter(({ causes }) => causes.length === count);
}

function listFindings(
  ...changes: { causes: readonly SignatureCauseCode[]; subject?: string | undefined }[]
): Finding[] {
  return changes.flatMap(({ causes, subject }) => causes.map((code) => ({ code, subject })));
}

/**
 * A URL for a report: without user info, and without a query that holds the parameters of a call,
 * for those tell of a user.
 */
function showUrl(text: string, method: "GET" | "POST"): string {
  const shown = hideUserInfo(text);
  const hasParameters = method === "GET" || /[?&](uuid|entity_identity|factor_sid)=/.test(shown);
  return hasParameters ? shown.replace(/\?.*$/s, "?…") : shown;
}

/**
 * Explains a webhook request that is rejected before its signature is compared.
 *
 * @param url the URL that the cause is about, if it is about one.
 */
export function explainCause(code: SignatureCauseCode | undefined, url?: string): SignatureReport {
  const subject = url === undefined ? undefined : showUrl(url, "POST");
  return {
    matches: false,
    causes: code === undefined ? [] : [describe(code, false, subject)],
    tried: { urls: [], tokens: [], combinations: 0 },
  };
}
