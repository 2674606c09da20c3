import type { ExplainSignatureOptions } from "./input";
import { trimQuotes, Variants, type Variant } from "./variants";
import { digest } from "../signature";

const MAX_TOKENS = 50;

/** Lists the tokens that may have signed; throws a TypeError when `authToken` is empty. */
export function listAlternativeTokens({
  authToken,
  candidateTokens = [],
}: Pick<ExplainSignatureOptions, "authToken" | "candidateTokens">): Variant[] {
  const given = [authToken].flat().slice(0, MAX_TOKENS);
  const variants = new Variants(MAX_TOKENS, Number.POSITIVE_INFINITY);
  for (const token of given) if (token !== "") variants.add(token, []);
  if (variants.list.length === 0) {
    throw new TypeError(
      "explainSignature: authToken must be an auth token or a list of them (its value is not shown).",
    );
  }
  for (const token of given) {
    variants.add(trimQuotes(token) || token, ["TOKEN_WHITESPACE"], fingerprint(token));
  }
  for (const [name, token] of Object.entries(candidateTokens).slice(0, MAX_TOKENS)) {
    const label = Array.isArray(candidateTokens) ? "" : ` (${name})`;
    for (const value of [token, trimQuotes(token)]) {
      if (value !== "") variants.add(value, ["TOKEN_OTHER"], fingerprint(value) + label);
    }
  }
  return variants.list.slice(0, MAX_TOKENS);
}

/** Returns 8 hexadecimal digits that identify a token without revealing it. */
export function fingerprint(token: string): string {
  const hash = Buffer.from(digest(token, "fingerprint", "sha256"), "base64");
  return hash.toString("hex").slice(0, 8);
}
