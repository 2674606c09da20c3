import { SID_DIGITS } from "./sid";
import type { OptionRule } from "./validate-options";
import { warnOnce } from "./process-warning";

/** Texts that anyone can guess: what a missing setting becomes, and SIDs. */
const MISSING = /^(?:undefined|null|nan|\[object \w+\])$/i;
const SID = new RegExp(`^[A-Z]{2}${SID_DIGITS}$`, "i");

/** Also characters that are not visible: an HMAC key with a NUL at its end is equal to the key without it. */
const INVISIBLE_END = /^[\s\p{C}]|[\s\p{C}]$/u;

const EXPECTED =
  'the auth token of the account: not empty, not a SID or the text of a missing setting such as "undefined", and without white space at its ends';

/**
 * Returns whether a value may be an auth token: an attacker who guesses it can sign. A token of the
 * service has no white space at its ends.
 */
export function isAuthToken(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    !INVISIBLE_END.test(value) &&
    !MISSING.test(value) &&
    !SID.test(value)
  );
}

/** Says which rule the first text of these breaks, without a character of it. */
function explainAuthToken(value: unknown): string {
  const token: unknown = [value].flat().find((one) => !isAuthToken(one));
  if (typeof token !== "string") return "";
  if (token === "") return "It is empty.";
  if (INVISIBLE_END.test(token)) {
    return "It begins or ends with white space, such as a line break, or with an invisible character.";
  }
  return SID.test(token) ? "It is a SID." : "It is the text of a missing setting.";
}

export const AUTH_TOKEN: OptionRule = {
  accepts: isAuthToken,
  expected: EXPECTED,
  explain: explainAuthToken,
  secret: true,
};

const SHORT_CHARACTERS = 16;

/** Emits the process warning `AUTH_TOKEN_SHORT`, once, for a short token in production. */
export function warnOfShortToken(tokens: readonly string[]): void {
  if (process.env.NODE_ENV !== "production") return;
  if (tokens.every((token) => token.length >= SHORT_CHARACTERS)) return;
  warnOnce(
    "AUTH_TOKEN_SHORT",
    `An auth token has fewer than ${SHORT_CHARACTERS} characters, so it can be guessed with one captured request. Pass the auth token of the account at the service.`,
  );
}

/** Emits the process warning `AUTH_TOKEN_UNUSABLE`, once, for a text that {@link isAuthToken} rejects. */
export function warnOfUnusableToken(): void {
  warnOnce(
    "AUTH_TOKEN_UNUSABLE",
    `The function authToken returned a text that is no auth token, so it counts as no token. Return ${EXPECTED}; undefined for an unknown account.`,
  );
}
