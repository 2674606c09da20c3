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
  candidateTokens?: readonly string[] | Readonly<Record<string, string>>;
  /** The URL as the request shows it, where it differs from `url`. */
  receivedUrl?: string;
  /** The body as received, before anything parsed it. */
  body?: string | Uint8Array;
  /** @default "POST" */
  method?: "GET" | "POST";
  /** The account whose token `authToken` is. */
  accountSid?: string;
}

const MAX_COMBINATIONS = 20_000;
const MAX_HASHED_CHARACTERS = 16_000_000;
const MAX_SIGNATURE_CHARACTERS = 200;
const MAX_CHANGED_CHARACTERS = 65_536;
const MAX_CHANGED_PARAMS = 200;

/**
 * Explains why a signature does not match: signs again with every mistake that is known to happen,
 * alone and in pairs, and names the one that makes it match. Where none does, it names what else
 * speaks for a cause. Its work is bounded: what is larger than any call of the service is tried as
 * it is, and no further.
 *
 * The report holds neither a token, what a parameter says of a user, nor a right signature: it may be
 * logged where the URLs may be.
 *
 * @throws TypeError when there is no token.
 */
export function explainSignature(options: ExplainSignatureOptions): SignatureReport {
  const { url, urlMatching = "ports", method = "POST" } = options;
  const received = (options.signature ?? "").slice(0, MAX_SIGNATURE_CHARACTERS);
  const params = listPairs(options.params);
  const receivedUrl =
    options.receivedUrl ??
    (method === "GET" && params.length > 0 ? append(url, params) : undefined);
  const tokens = listTokenVariants(options);
  const isHuge = isTooLarge(options, params, receivedUrl);
  const urls: Variant<string>[] = isHuge
    ? listSignedUrls(url, urlMatching).map((value) => ({ value, causes: [] }))
    : listUrlVariants(url, urlMatching, receivedUrl);
  const sets: Variant<Pair[]>[] = isHuge
    ? [{ value: params, causes: [] }]
    : listParamsVariants({ params, url, body: options.body });
  const { found, combinations } = search(urls, sets, tokens, listSignatureReadings(received));
  const proven = found?.map(({ code, subject }) => describe(code, true, subject));
  const causes = proven ?? listSuspicions(options, params, received);
  const show = (text: string) => showUrl(text, method);
  for (const cause of causes) if (cause.subject !== undefined) cause.subject = show(cause.subject);
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
  { url, body = "" }: ExplainSignatureOptions,
  params: readonly Pair[],
  receivedUrl = "",
): boolean {
  let characters = body.length;
  for (const [name, value] of params) characters += name.length + value.length;
  return (
    characters > MAX_CHANGED_CHARACTERS ||
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
  sets: readonly Variant<Pair[]>[],
  tokens: readonly Variant<string>[],
  readings: readonly SignatureReading[],
): { found: Finding[] | undefined; combinations: number } {
  const joined = sets.map(({ value, ...set }) => ({ ...set, value: joinParams(value) }));
  const algorithms = [...new Set(readings.map(({ algorithm }) => algorithm))];
  let combinations = 0;
  if (readings.length === 0) return { found: undefined, combinations };
  let characters = 0;
  for (const [url, set, token] of combine(urls, joined, tokens)) {
    const text = url.value + set.value;
    characters += text.length;
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

/** Explains a call that is refused before its signature is compared, by the one cause for that. */
export function explainCause(code: SignatureCauseCode | undefined): SignatureReport {
  return {
    matches: false,
    causes: code === undefined ? [] : [describe(code, false)],
    tried: { urls: [], tokens: [], combinations: 0 },
  };
}
