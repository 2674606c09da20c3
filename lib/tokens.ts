import type { Pair } from "./form";
import { sidSchema } from "./event-schema";

/** One auth token, or several while one replaces another. */
export type AuthTokens = string | readonly string[];

/** What a call says of itself before anything of it is verified. */
export interface ClaimedIdentity {
  /** Present when it has the form of an account SID. */
  account_sid?: string;
  /** Present when it has the form of a service SID. */
  service_sid?: string;
}

/** The tokens of an account, bound to some of its services. */
export interface AccountTokens {
  authToken: AuthTokens;
  /**
   * The services whose events are accepted from this account. @default every service: each is
   * signed with the token of its account
   */
  serviceSids?: readonly string[] | undefined;
}

/**
 * Finds the tokens of the account that a webhook request claims to come from. The claim is not
 * verified yet: look it up, trust nothing else in it. Undefined, or an empty list, rejects the
 * request; an account that no signature has verified is then not looked up again for 10 s.
 *
 * Return undefined for an unknown account and do not throw: a lookup that throws is retried for 8 s,
 * as when a database restarts. At most 100 lookups run at a time.
 */
export type AuthTokenResolver = (
  claimed: ClaimedIdentity,
) => ResolvedTokens | Promise<ResolvedTokens>;

type ResolvedTokens = AuthTokens | AccountTokens | undefined;

const accountSidSchema = sidSchema("AC");
const serviceSidSchema = sidSchema("VA");

/** Reads what a call claims to be, leaving out what does not have the form of a SID. */
export function readClaimedIdentity(params: readonly Pair[]): ClaimedIdentity {
  const claimed: ClaimedIdentity = {};
  for (const [name, value] of params) {
    if (name === "account_sid" && accountSidSchema.safeParse(value).success) {
      claimed.account_sid = value;
    } else if (name === "service_sid" && serviceSidSchema.safeParse(value).success) {
      claimed.service_sid = value;
    }
  }
  return claimed;
}

/** The usable tokens of an account, and the services that they may sign for. */
export interface UsableTokens {
  /** Possibly none, never an empty string. */
  tokens: readonly string[];
  /** Undefined: every service. */
  serviceSids: readonly string[] | undefined;
}

/** Reads what a resolver returned; an object whose `serviceSids` is not a list allows none. */
export function readTokens(resolved: unknown): UsableTokens {
  if (typeof resolved !== "object" || resolved === null || Array.isArray(resolved)) {
    return { tokens: listTokens(resolved), serviceSids: undefined };
  }
  const { authToken, serviceSids } = resolved as { authToken?: unknown; serviceSids?: unknown };
  const isList = Array.isArray(serviceSids);
  return {
    tokens: listTokens(authToken),
    serviceSids: serviceSids === undefined ? undefined : isList ? (serviceSids as string[]) : [],
  };
}

function listTokens(tokens: unknown): string[] {
  const list: unknown[] = Array.isArray(tokens) ? tokens : [tokens];
  return list.filter((token): token is string => typeof token === "string" && token !== "");
}
