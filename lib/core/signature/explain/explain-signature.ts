import { fingerprint, listTokens } from "./alternative-tokens";
import { listParams } from "./alternative-params";
import { listUrls } from "./alternative-urls";
import type { GivenBody } from "./bodies";
import type { ExplainSignatureOptions } from "./options";
import { findFormFault, listSignatureReadings, type SignatureReading } from "./signature-readings";
import { createCause, listSuspicions } from "./suspicions";
import type { Variant } from "./variants";
import type {
  SignatureCause,
  SignatureCauseCode,
  SignatureReport,
} from "../../errors/signature-causes";
import { isRawBody } from "../../event/form";
import { listFlatPairs, type Pair } from "../../../kit/pairs";
import { encodeForm, escapeControls } from "../../../kit/text";
import { hideUserInfo } from "../../../kit/url";
import { digest } from "../../../kit/hash";
import { listPairs } from "../signature";

const MAX_COMBINATIONS = 5_000;
const MAX_HASHED_CHARACTERS = 6_000_000;
const MAX_SIGNATURE_CHARACTERS = 200;
const MAX_SHOWN_URLS = 20;
const MAX_TRIED_CHARACTERS = 300;
const MAX_SHOWN_CHARACTERS = 2_048;
const BODY_HASH = /[?&]bodySHA256=/i;
/** The names of parameters that a report shows. */
const PARAMETER_NAME = /^[\w.[\]-]{1,64}$/;

/** Finds the causes of a signature that does not match. */
export function explain(options: ExplainSignatureOptions): SignatureReport {
  const { url, urlMatching = "ports", method = "POST" } = options;
  const received = (options.signature ?? "").slice(0, MAX_SIGNATURE_CHARACTERS);
  const params = listPairs(options.params);
  // A parser may have created a record.
  const isParsed = method === "POST" && listFlatPairs(options.params) !== undefined;
  const body = options.body ?? (isParsed ? (options.params as GivenBody) : undefined);
  const isGetBody = method === "GET" && params.length > 0;
  const receivedUrl = options.receivedUrl ?? (isGetBody ? append(url, params) : undefined);
  const urls = listUrls(url, urlMatching, receivedUrl);
  const sets = listParams(params, url, body);
  const tokens = listTokens(options);
  const { proven, combinations } = search(urls, sets, tokens, listSignatureReadings(received));
  const matches = proven?.length === 0;
  const isOther = !matches && BODY_HASH.test(`${url} ${receivedUrl ?? ""}`);
  const causes = isOther
    ? [createCause("OTHER_PRODUCT", false)]
    : (proven ?? listSuspicions({ ...options, body }, params, received));
  // First: the fix of this cause undoes the changes that the parser made to the parameters.
  if (body !== undefined && !isRawBody(body) && proven?.some(isChangeOfParser) === true) {
    proven.unshift(createCause("BODY_PARSED", false));
  }
  const shownUrls = urls.slice(0, MAX_SHOWN_URLS);
  return {
    matches,
    causes: causes.map((cause) => showSubject(cause, method, url)),
    tried: {
      urls: shownUrls.map(({ value }) => showUrl(value.slice(0, MAX_TRIED_CHARACTERS), method)),
      tokens: tokens.map(({ value }) => fingerprint(value)),
      combinations,
    },
  };
}

/** The causes in the parameters that no body parser makes. */
const NOT_OF_PARSERS = new Set<SignatureCauseCode>(["PARAMS_MISSING", "PARAMS_UNSIGNED"]);

function isChangeOfParser({ code }: SignatureCause): boolean {
  return code.startsWith("PARAMS_") && !NOT_OF_PARSERS.has(code);
}

function showSubject(cause: SignatureCause, method: "GET" | "POST", url: string): SignatureCause {
  const { subject, ...rest } = cause;
  if (subject === undefined) return cause;
  // Not shown: for a body that is not a form, the "name" may be the whole body.
  if (cause.code.startsWith("PARAMS_") && !PARAMETER_NAME.test(subject)) return rest;
  const signed = showUrl(subject, method);
  const given = showUrl(url, method);
  if (!cause.isProven || !cause.code.startsWith("URL_") || signed === given) {
    return { ...rest, subject: signed };
  }
  const explanation = `The service signed ${signed}, and publicUrl is ${given}.`;
  return { ...rest, explanation, subject: signed };
}

function append(url: string, params: readonly Pair[]): string {
  return `${url.replace(/#.*$/s, "")}${url.includes("?") ? "&" : "?"}${encodeForm(params)}`;
}

function search(
  urls: readonly Variant[],
  sets: readonly Variant[],
  tokens: readonly Variant[],
  readings: readonly SignatureReading[],
): { proven?: SignatureCause[]; combinations: number } {
  const algorithms = [...new Set(readings.map(({ algorithm }) => algorithm))];
  let combinations = 0;
  let characters = 0;
  if (readings.length === 0) return { combinations };
  for (const { url, set, token } of combine(urls, sets, tokens)) {
    const text = url.value + set.value;
    characters += text.length * algorithms.length;
    if (combinations === MAX_COMBINATIONS || characters > MAX_HASHED_CHARACTERS) break;
    combinations++;
    for (const algorithm of algorithms) {
      const expected = digest(token.value, text, algorithm);
      const reading = readings.find((one) => one.algorithm === algorithm && one.matches(expected));
      if (reading === undefined) continue;
      const signed = { causes: url.causes, subject: url.value };
      return { proven: listCauses(reading, signed, set, token), combinations };
    }
  }
  return { combinations };
}

/** How many mistakes in token, parameters and URL are tried together; cheap and frequent first. */
const MISTAKES = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 0, 1],
  [0, 1, 0],
  [0, 0, 2],
  [0, 0, 3],
  [0, 0, 4],
  [0, 0, 5],
  [1, 0, 1],
  [1, 1, 0],
  [0, 1, 1],
  [1, 0, 2],
  [0, 1, 2],
] as const;

function* combine(urls: readonly Variant[], sets: readonly Variant[], tokens: readonly Variant[]) {
  for (const [inToken, inSet, inUrl] of MISTAKES) {
    for (const token of withMistakes(tokens, inToken)) {
      for (const set of withMistakes(sets, inSet)) {
        for (const url of withMistakes(urls, inUrl)) yield { url, set, token };
      }
    }
  }
}

function withMistakes(all: readonly Variant[], count: number): Variant[] {
  return all.filter(({ causes, rank = causes.length }) => rank === count);
}

function listCauses(
  ...changes: { causes: readonly SignatureCauseCode[]; subject?: string | undefined }[]
): SignatureCause[] {
  return changes.flatMap(({ causes, subject }) =>
    causes.map((code) => createCause(code, true, subject)),
  );
}

/** Returns a URL for a report: escaped, without user info, and without a query that may identify a user. */
function showUrl(text: string, method: "GET" | "POST"): string {
  const shown = escapeControls(hideUserInfo(text.slice(0, MAX_SHOWN_CHARACTERS)));
  const hasParameters = method === "GET" || /[?&](uuid|entity_identity|factor_sid)=/.test(shown);
  return hasParameters ? shown.replace(/\?.*$/s, "?…") : shown;
}

/** Explains a request that is rejected before its signature is compared; `url` may be the cause. */
export function explainCause(code: SignatureCauseCode, url?: string): SignatureReport {
  const subject = url === undefined ? undefined : showUrl(url, "POST");
  const causes = [createCause(code, false, subject)];
  return { matches: false, causes, tried: { urls: [], tokens: [], combinations: 0 } };
}

/** Explains a malformed signature header; several are joined with ", ". */
export function explainMalformed(received: string): SignatureReport {
  return explainCause(findFormFault(received) ?? "SIGNATURE_MALFORMED");
}
