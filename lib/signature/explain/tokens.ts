import { createVariants, trimQuotes, type Variant } from "./variants";
import type { ExplainSignatureOptions } from "./options";
import { digest } from "../signature";

const MAX_TOKENS = 50;

/** The tokens that may have signed a webhook request. */
export type TokenEvidence = Pick<ExplainSignatureOptions, "authToken" | "candidateTokens">;

/** Lists the tokens that may have signed; throws a TypeError when `authToken` is empty. */
export function listTokenVariants(options: TokenEvidence): Variant[] {
  const { authToken, candidateTokens = [] } = options;
  const given = typeof authToken === "string" ? [authToken] : authToken.slice(0, MAX_TOKENS);
  const variants = createVariants(MAX_TOKENS);
  for (const token of given) if (token !== "") variants.add(token, []);
  if (variants.list.length === 0) {
    throw new TypeError(
      "explainSignature: authToken must be an auth token or a list of them (its value is not shown).",
    );
  }
  for (const token of given) variants.add(trimQuotes(token) || token, ["TOKEN_WHITESPACE"]);
  for (const [name, token] of Object.entries(candidateTokens).slice(0, MAX_TOKENS)) {
    const label = Array.isArray(candidateTokens) ? "" : ` (${name})`;
    for (const value of [token, trimQuotes(token)]) {
      if (value !== "") variants.add(value, ["TOKEN_OTHER"], fingerprint(value) + label);
    }
  }
  return variants.list;
}

/** Returns 8 hexadecimal digits that identify a token without revealing it. */
export function fingerprint(token: string): string {
  const hash = Buffer.from(digest(token, "fingerprint", "sha256"), "base64");
  return hash.toString("hex").slice(0, 8);
}
