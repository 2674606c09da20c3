import type { Pair } from "./form";
import { sidSchema } from "./event";

/** One auth token, or several while one replaces another. */
export type AuthTokens = string | readonly string[];

/** What a call says of itself before anything of it is verified. */
export interface ClaimedIdentity {
  /** Present when it has the form of an account SID. */
  account_sid?: string;
  /** Present when it has the form of a service SID. */
  service_sid?: string;
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
) => AuthTokens | undefined | Promise<AuthTokens | undefined>;

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

/** The usable tokens of what a resolver returned: possibly none, never an empty one. */
export function listTokens(tokens: unknown): string[] {
  const list: unknown[] = Array.isArray(tokens) ? tokens : [tokens];
  return list.filter((token): token is string => typeof token === "string" && token !== "");
}
