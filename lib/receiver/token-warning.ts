const emitted = new Set<string>();

/**
 * Emits the process warning `AUTH_TOKEN_WHITESPACE` for a token that has white space at its ends,
 * which no auth token of the service has. Emits it once for each source; never shows the token.
 *
 * @param source where the token comes from, as in `pushWebhooks: authToken[1]`. Its number must
 *   be bounded.
 */
export function warnOfWhitespace(source: string, tokens: readonly string[]): void {
  if (!tokens.some((token) => /^\s|\s$/.test(token)) || emitted.has(source)) return;
  emitted.add(source);
  process.emitWarning(
    `${source} has white space at its ends, so no signature matches. Trim it: a secret that is read from a file often ends with a line break.`,
    { type: "PushWebhooksWarning", code: "AUTH_TOKEN_WHITESPACE" },
  );
}
