import type { ExplainSignatureOptions } from "./options";
import { collectVariants, trimQuotes, type Variant } from "./variants";
import { createPseudonym } from "../../../kit/hash";

const MAX_TOKENS = 50;

type GivenTokens = Pick<ExplainSignatureOptions, "authToken" | "candidateTokens">;

/** Lists the tokens that may have signed; throws a TypeError when `authToken` is empty. */
export function listTokens(given: GivenTokens): Variant[] {
  return collectVariants(varyTokens(given), MAX_TOKENS);
}

function* varyTokens({ authToken, candidateTokens = [] }: GivenTokens): Generator<Variant> {
  const tokens = [authToken].flat().filter((token) => token !== "");
  if (tokens.length === 0) {
    throw new TypeError(
      "explainSignature: authToken must be an auth token or a list of them (its value is not shown).",
    );
  }
  for (const value of tokens) yield { value, causes: [] };
  for (const token of tokens) {
    const value = trimQuotes(token) || token;
    yield { value, causes: ["TOKEN_WHITESPACE"], subject: fingerprint(token) };
  }
  for (const [name, token] of Object.entries(candidateTokens)) {
    const label = Array.isArray(candidateTokens) ? "" : ` (${name})`;
    for (const value of [token, trimQuotes(token)]) {
      if (value === "") continue;
      yield { value, causes: ["TOKEN_OTHER"], subject: fingerprint(value) + label };
    }
  }
}

/** Returns 8 hexadecimal digits that identify a token without revealing it. */
export function fingerprint(token: string): string {
  return createPseudonym(token, "fingerprint");
}
