import { createRequestRetry } from "../delivery/retry-request";
import { within } from "../../kit/response-timeout";
import { createNeutralCause } from "../../kit/neutral-cause";
import { WebhookError } from "../errors/webhook-error";
import type { Pair } from "../../kit/pairs";
import { isSid } from "../../kit/sid";
import { FairMap } from "../../kit/fair-map";
import { LOOKUP_MS, LookupSlots } from "./lookup-slots";
import { isAuthToken, warnOfShortToken, warnOfUnusableToken } from "../../kit/auth-token";
import type { KeyObject } from "node:crypto";
import { createTokenKey } from "../signature/hmac";

/** One auth token, or a list of tokens of one account during a rotation. */
export type AuthTokens = string | readonly string[];

/** The identity that a webhook request claims, before its signature is verified. */
export interface ClaimedIdentity {
  /** Present if the parameter has the form of an account SID. */
  account_sid?: string;
  /** Present if the parameter has the form of a service SID. */
  service_sid?: string;
}

/** The tokens of an account, and the services that may use them. */
export interface AccountTokens {
  authToken: AuthTokens;
  /** The services of the account whose events are accepted. @default every service */
  serviceSids?: readonly string[] | undefined;
}

/**
 * Returns the tokens of the account that a webhook request claims to come from. The claim is not
 * verified yet: use it only to look the tokens up. Undefined or an empty list rejects the request;
 * an account that no signature has verified is then not looked up again for 1 s.
 *
 * Return undefined for an unknown account and do not throw: a lookup that throws is retried for 8
 * s, because a database may be restarting. At most 100 lookups run at a time. Tokens are kept for
 * 1 s, and looked up again immediately when they no longer fit. All receivers and all calls of
 * `verifyPushRequest` with the same function share its lookups: create it once.
 */
export type AuthTokenResolver = (
  claimed: ClaimedIdentity,
) => ResolvedTokens | Promise<ResolvedTokens>;
type ResolvedTokens = AuthTokens | AccountTokens | undefined;

/** The tokens of the account that a webhook request claims. */
export interface FoundTokens {
  /** May be empty. */
  tokens: readonly string[];
  /** The key of each token. */
  keys: readonly KeyObject[];
  /** The services that the tokens may sign for; undefined for every service. */
  serviceSids: readonly string[] | undefined;
  /** Whether one of the tokens has signed a request: if none does now, there may be a new one. */
  readonly hasMatched: boolean;
  noteMatch(): void;
}

/**
 * Finds the tokens of the account that a request claims.
 *
 * @param deadlineAtMs when to give up, as `performance.now()` counts.
 * @param outdated the tokens that do not fit: newer ones are looked up.
 * @throws WebhookError `TOKEN_UNAVAILABLE` if the resolver failed or did not respond, `OVERLOADED` if
 *   too many lookups wait.
 */
type FindTokens = (
  claimed: ClaimedIdentity,
  deadlineAtMs?: number,
  outdated?: FoundTokens,
) => FoundTokens | Promise<FoundTokens>;

interface Identity {
  claimed: ClaimedIdentity;
  isVerified: boolean;
  found?: FoundTokens;
  foundUntilAtMs: number;
  /** Until when a lookup is not repeated after a failure. */
  failedUntilAtMs: number;
  /** The lookup that requests with this identity share. */
  running?: Promise<FoundTokens> | undefined;
  /** The last error of this lookup. */
  thrown?: unknown;
}

const MAX_IDENTITIES = 20_000;
/** How long tokens are used without a lookup, and how long an unverified identity has none. */
const FOUND_MS = 1_000;
/** How long an unverified identity is not looked up after a failure. */
const FAILED_MS = 2_000;

const findTokensByResolver = new WeakMap<AuthTokenResolver, FindTokens>();

/** Creates the step that finds tokens, or returns the one that was created for this resolver. */
export function createFindTokens(authToken: AuthTokens | AuthTokenResolver): FindTokens {
  if (typeof authToken === "function") {
    const findTokens = findTokensByResolver.get(authToken) ?? new TokenLookup(authToken).find;
    findTokensByResolver.set(authToken, findTokens);
    return findTokens;
  }
  const tokens = [authToken].flat();
  const keys = tokens.map(createTokenKey);
  const found = { tokens, keys, serviceSids: undefined, hasMatched: false, noteMatch() {} };
  return () => found;
}

/**
 * Looks tokens up as a remote key set is fetched: requests with the same claimed identity share a
 * lookup, its result is kept for a while, and few lookups run at a time.
 *
 * The request is not authenticated yet. So half of the lookups are reserved for identities that a
 * signature has verified, and accounts share each half equally: invented accounts cannot delay them.
 */
class TokenLookup {
  // Invented accounts cannot evict verified ones: those that are only claimed share one account.
  readonly #identities = new FairMap<Identity>({ maxEntries: MAX_IDENTITIES });
  readonly #lookUpVerified: LimitedLookup;
  readonly #lookUpOther: LimitedLookup;

  constructor(authToken: AuthTokenResolver) {
    this.#lookUpVerified = createLimitedLookup(authToken);
    this.#lookUpOther = createLimitedLookup(authToken);
  }

  readonly find: FindTokens = (claimed, deadlineAtMs = Number.POSITIVE_INFINITY, outdated) => {
    const identity = this.#openIdentity(claimed);
    const nowMs = performance.now();
    if (nowMs < identity.failedUntilAtMs) {
      const message = `The function authToken failed for this account less than ${FAILED_MS} ms ago; that failure was reported.`;
      throw new WebhookError("TOKEN_UNAVAILABLE", message);
    }
    const { found } = identity;
    const isCurrent = found !== undefined && found !== outdated && nowMs < identity.foundUntilAtMs;
    return isCurrent ? found : this.#lookUpUntil(identity, deadlineAtMs);
  };

  #openIdentity(claimed: ClaimedIdentity): Identity {
    const { account_sid = "", service_sid = "" } = claimed;
    const key = `${account_sid} ${service_sid}`;
    const known = this.#identities.get(account_sid, service_sid) ?? this.#identities.get("", key);
    if (known !== undefined) return known;
    // Copied, because a slice of a body keeps the whole body in memory.
    const copy = JSON.parse(JSON.stringify(claimed)) as ClaimedIdentity;
    const identity = { claimed: copy, isVerified: false, foundUntilAtMs: 0, failedUntilAtMs: 0 };
    this.#identities.add("", key, identity);
    return identity;
  }

  /** Awaits a lookup until the deadline of the request; it continues for other requests. */
  async #lookUpUntil(identity: Identity, deadlineAtMs: number): Promise<FoundTokens> {
    identity.running ??= this.#lookUp(identity);
    const leftMs = deadlineAtMs - performance.now();
    // It ends by itself before the deadline.
    if (leftMs > LOOKUP_MS) return identity.running;
    try {
      return await within(identity.running, leftMs);
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const { thrown } = identity;
      throw new WebhookError(
        "TOKEN_UNAVAILABLE",
        "The function authToken failed or did not respond before the deadline of the request.",
        thrown === undefined ? {} : { cause: createNeutralCause(thrown) },
      );
    }
  }

  async #lookUp(identity: Identity): Promise<FoundTokens> {
    const { claimed, isVerified } = identity;
    identity.thrown = undefined;
    try {
      const lookUp = isVerified ? this.#lookUpVerified : this.#lookUpOther;
      const resolved = await lookUp(claimed, (error) => void (identity.thrown = error));
      const found = this.#createFound(identity, resolved);
      const keepMs = found.tokens.length > 0 || !isVerified ? FOUND_MS : 0;
      identity.foundUntilAtMs = performance.now() + keepMs;
      identity.found = found;
      return found;
    } catch (error) {
      const isFailure = error instanceof WebhookError && error.code === "TOKEN_UNAVAILABLE";
      if (isFailure && !isVerified) identity.failedUntilAtMs = performance.now() + FAILED_MS;
      throw error;
    } finally {
      identity.running = undefined;
    }
  }

  #createFound(identity: Identity, resolved: unknown): FoundTokens {
    const { tokens, serviceSids } = readTokens(resolved);
    const keys = tokens.map(createTokenKey);
    const noteMatch = () => {
      found.hasMatched = true;
      const { account_sid = "", service_sid = "" } = identity.claimed;
      if (!identity.isVerified) this.#identities.add(account_sid, service_sid, identity);
      identity.isVerified = true;
    };
    const found = { tokens, serviceSids, keys, hasMatched: false, noteMatch };
    return found;
  }
}

type LimitedLookup = ReturnType<typeof createLimitedLookup>;

/** Creates a function that looks tokens up when its account has a slot, and again after a failure. */
function createLimitedLookup(authToken: AuthTokenResolver) {
  const retry = createRequestRetry({
    code: "TOKEN_UNAVAILABLE",
    what: "the function authToken",
    retryForMs: LOOKUP_MS,
    attemptWhenFullMs: LOOKUP_MS,
    // Few attempts, because the request is not authenticated yet.
    pauses: { firstMs: 500, longestMs: 4_000 },
  });
  const slots = new LookupSlots();

  async function runInSlot(claimed: ClaimedIdentity): Promise<unknown> {
    const { account_sid = "" } = claimed;
    await slots.take(account_sid);
    // Resolve only once: each `then` of a query builder runs its query.
    const resolved = Promise.resolve(claimed).then(authToken);
    const release = () => slots.release(account_sid);
    within(resolved, LOOKUP_MS).then(release, release);
    return resolved;
  }

  return (claimed: ClaimedIdentity, onAttemptFailed: (error: unknown) => void) =>
    retry(() => runInSlot(claimed), undefined, onAttemptFailed);
}

/** Reads the identity that parameters claim. */
export function readClaimedIdentity(params: readonly Pair[]): ClaimedIdentity {
  const claimed: ClaimedIdentity = {};
  for (const [name, value] of params) {
    if (name === "account_sid" && isSid("AC", value)) claimed.account_sid = value;
    else if (name === "service_sid" && isSid("VA", value)) claimed.service_sid = value;
  }
  return claimed;
}

/** Reads the value that a resolver returned; `serviceSids` that is not a list allows no service. */
function readTokens(resolved: unknown): Pick<FoundTokens, "tokens" | "serviceSids"> {
  const isAccount = typeof resolved === "object" && resolved !== null && !Array.isArray(resolved);
  const { authToken, serviceSids } = (isAccount ? resolved : { authToken: resolved }) as Partial<
    Record<keyof AccountTokens, unknown>
  >;
  const texts = [authToken].flat().filter((token) => typeof token === "string");
  const tokens = texts.filter(isAuthToken);
  if (tokens.length < texts.length) warnOfUnusableToken();
  warnOfShortToken(tokens);
  const isUsable = serviceSids === undefined || Array.isArray(serviceSids);
  return { tokens, serviceSids: isUsable ? (serviceSids as string[] | undefined) : [] };
}
