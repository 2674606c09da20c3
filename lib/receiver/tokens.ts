import type { Pair } from "../form/form";
import { isSid } from "../form/sid";
import { isText } from "../validation/validate-options";

/** One auth token, or a list of tokens of one account during a rotation. */
export type AuthTokens = string | readonly string[];

/** The identity that a webhook request claims, before its signature is verified. */
export interface ClaimedIdentity {
  /** Present if the parameter has the form of an account SID. */
  account_sid?: string;
  /** Present if the parameter has the form of a service SID. */
  service_sid?: string;
}

/** The tokens of an account and the services that may use them. */
export interface AccountTokens {
  authToken: AuthTokens;
  /** The services of the account whose events are accepted. @default every service */
  serviceSids?: readonly string[] | undefined;
}

/**
 * Returns the tokens of the account that a webhook request claims to come from. The claim is not
 * verified yet: use it only to look the tokens up. Undefined or an empty list rejects the request;
 * an account that no signature has verified is then not looked up again for 10 s.
 *
 * Return undefined for an unknown account and do not throw: a lookup that throws is retried for 8
 * s, because a database may be restarting. At most 100 lookups run at a time.
 */
export type AuthTokenResolver = (
  claimed: ClaimedIdentity,
) => ResolvedTokens | Promise<ResolvedTokens>;

type ResolvedTokens = AuthTokens | AccountTokens | undefined;

/** Reads the claimed identity; omits a parameter that does not have the form of a SID. */
export function readClaimedIdentity(params: readonly Pair[]): ClaimedIdentity {
  const claimed: ClaimedIdentity = {};
  for (const [name, value] of params) {
    if (name === "account_sid" && isSid("AC", value)) claimed.account_sid = value;
    else if (name === "service_sid" && isSid("VA", value)) claimed.service_sid = value;
  }
  return claimed;
}

/** The usable tokens of an account, and the services that they may sign for. */
export interface UsableTokens {
  /** May be empty; contains no empty string. */
  tokens: readonly string[];
  /** Undefined: every service. */
  serviceSids: readonly string[] | undefined;
}

/** Reads the value that a resolver returned; `serviceSids` that is not a list allows no service. */
export function readTokens(resolved: unknown): UsableTokens {
  if (typeof resolved !== "object" || resolved === null || Array.isArray(resolved)) {
    return { tokens: listTokens(resolved), serviceSids: undefined };
  }
  const { authToken, serviceSids } = resolved as { authToken?: unknown; serviceSids?: unknown };
  const isUsable = serviceSids === undefined || Array.isArray(serviceSids);
  return {
    tokens: listTokens(authToken),
    serviceSids: isUsable ? (serviceSids as string[] | undefined) : [],
  };
}

function listTokens(tokens: unknown): string[] {
  const list: unknown[] = Array.isArray(tokens) ? tokens : [tokens];
  return list.filter(isText);
}

const emitted = new Set<string>();

/**
 * Emits the process warning `AUTH_TOKEN_WHITESPACE` for a token that has white space at its ends,
 * which no auth token of the service has. Emits it once for each source; never shows the token.
 *
 * @param source where the token comes from, as in `pushWebhooks: authToken[1]`; bounded in number.
 */
export function warnOfWhitespace(source: string, tokens: readonly string[]): void {
  if (!tokens.some((token) => /^\s|\s$/.test(token)) || emitted.has(source)) return;
  emitted.add(source);
  process.emitWarning(
    `${source} has white space at its ends, so no signature matches. Trim it: a secret that is read from a file often ends with a line break.`,
    { type: "PushWebhooksWarning", code: "AUTH_TOKEN_WHITESPACE" },
  );
}
