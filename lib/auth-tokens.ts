import { WebhookError } from "./errors";
import type { Pair } from "./form";
import { createHold, within } from "./hold";
import { createLookupSlots } from "./lookup-slots";
import { createNeutralCause } from "./neutral-cause";
import { createExpiringMap, type ExpiringMap } from "./expiring-map";
import { readClaimedIdentity, readTokens } from "./tokens";
import type { AuthTokenResolver, AuthTokens, ClaimedIdentity, UsableTokens } from "./tokens";

/** The tokens of the account that a webhook request claims to come from. */
export interface FoundTokens extends UsableTokens {
  /** Marks the claimed identity as verified: one of the tokens made the signature. */
  markVerified: () => void;
}

/** Finds the tokens for the parameters of a webhook request. */
export type FindTokens = (
  params: readonly Pair[],
  /** When to give up, as `performance.now()` counts. */
  deadlineAtMs?: number,
) => Promise<FoundTokens>;

/** Limits of {@link createFindTokens}. */
export interface LookupLimits {
  /** How many lookups run at a time for verified identities, and as many for the others. @default 50 */
  maxRunning?: number;
  /** How long a request waits for its tokens, in milliseconds. @default 8_000 */
  lookupMs?: number;
  /** How long an identity without a token is not looked up again, in milliseconds. @default 10_000 */
  unknownMs?: number;
  /** How long an identity whose lookup failed is not looked up again. @default 2_000 */
  failedMs?: number;
}

const MAX_WAITING = 1_000;
const MAX_IDENTITIES = 10_000;
const MAX_SERVICES = 10;

/**
 * Makes the lookup of auth tokens. A request that needs one is not authenticated yet, so at most 100
 * lookups of a resolver run at a time, and requests with the same claimed identity share one.
 *
 * Half of them are reserved for identities that a signature has verified, so that invented accounts
 * never delay those. An identity that has no token, or whose lookup failed, is not looked up again
 * for some seconds unless a signature has verified it before.
 *
 * @throws WebhookError (by what it returns) `TOKEN_UNAVAILABLE` when the resolver failed or did not
 *   respond; `OVERLOADED` when too many requests wait for it.
 */
export function createFindTokens(
  authToken: AuthTokens | AuthTokenResolver,
  { maxRunning = 50, lookupMs = 8_000, unknownMs = 10_000, failedMs = 2_000 }: LookupLimits = {},
): FindTokens {
  if (typeof authToken !== "function") {
    const found = { ...readTokens(authToken), markVerified() {} };
    return () => Promise.resolve(found);
  }
  const verified = createVerifiedIdentities();
  const unknown = createExpiringMap<true>({ ttlMs: unknownMs, maxEntries: MAX_IDENTITIES });
  const failed = createExpiringMap<true>({ ttlMs: failedMs, maxEntries: MAX_IDENTITIES });
  const lookUpVerified = createLookup(authToken, maxRunning, lookupMs);
  const lookUpOther = createLookup(authToken, maxRunning, lookupMs);
  const inFlight = new Map<string, Promise<UsableTokens>>();

  async function lookUp(key: string, claimed: ClaimedIdentity): Promise<UsableTokens> {
    const isVerified = verified.has(claimed);
    try {
      const found = readTokens(await (isVerified ? lookUpVerified : lookUpOther)(claimed));
      if (found.tokens.length === 0 && !isVerified) unknown.add(key, () => true);
      return found;
    } catch (thrown) {
      const error = toWebhookError(thrown);
      const hasFailed = error.code === "TOKEN_UNAVAILABLE";
      if (hasFailed && !isVerified) failed.add(key, () => true);
      throw error;
    } finally {
      inFlight.delete(key);
    }
  }

  function lookUpOnce(key: string, claimed: ClaimedIdentity): Promise<UsableTokens> {
    const lookup = inFlight.get(key) ?? lookUp(key, claimed);
    inFlight.set(key, lookup);
    return lookup;
  }

  return async function findTokens(params, deadlineAtMs = Number.POSITIVE_INFINITY) {
    const claimed = readClaimedIdentity(params);
    const key = `${claimed.account_sid} ${claimed.service_sid}`;
    const markVerified = () => verified.add(claimed);
    if (unknown.get(key) !== undefined) return { ...readTokens(undefined), markVerified };
    if (failed.get(key) !== undefined) {
      const message = `The function authToken failed for this account less than ${failedMs} ms ago.`;
      throw new WebhookError("TOKEN_UNAVAILABLE", message);
    }
    const lookup = lookUpOnce(key, claimed);
    const leftMs = deadlineAtMs - performance.now();
    const found = leftMs > lookupMs ? await lookup : await withinDeadline(lookup, leftMs);
    return { ...found, markVerified };
  };
}

/** The body took part of the time there is; the lookup goes on for other requests. */
async function withinDeadline(
  lookup: Promise<UsableTokens>,
  leftMs: number,
): Promise<UsableTokens> {
  try {
    return await within(lookup, Math.max(leftMs, 1));
  } catch (error) {
    if (error instanceof WebhookError) throw error;
    const message = "The function authToken did not respond before the deadline of the request.";
    throw new WebhookError("TOKEN_UNAVAILABLE", message);
  }
}

/** A getter or proxy in what the function returned may throw. */
function toWebhookError(thrown: unknown): WebhookError {
  if (thrown instanceof WebhookError) return thrown;
  const message = "The value that the function authToken returned cannot be read; see the cause.";
  return new WebhookError("TOKEN_UNAVAILABLE", message, { cause: createNeutralCause(thrown) });
}

function createLookup(authToken: AuthTokenResolver, maxRunning: number, lookupMs: number) {
  const hold = createHold({
    code: "TOKEN_UNAVAILABLE",
    what: "the function authToken",
    holdMs: lookupMs,
    attemptWhenFullMs: lookupMs,
    // Few attempts: the request is not authenticated yet.
    firstPauseMs: 500,
    longestPauseMs: 4_000,
  });
  const runInSlot = createLookupSlots({
    maxRunning,
    maxWaiting: MAX_WAITING,
    // A lookup that starts later hardly ends in time.
    maxWaitMs: 0.6 * lookupMs,
    maxRunMs: lookupMs,
  });
  return (claimed: ClaimedIdentity) => hold(() => runInSlot(() => authToken(claimed)));
}

const FOREVER = { ttlMs: Number.POSITIVE_INFINITY };

function createServices(): ExpiringMap<true> {
  return createExpiringMap<true>({ ...FOREVER, maxEntries: MAX_SERVICES });
}

/** The identities that a signature has verified: bounded, the oldest are dropped first. */
function createVerifiedIdentities() {
  // By account, since a signature authenticates the account alone: an account that signs invented
  // services displaces its own and no others.
  const servicesByAccount = createExpiringMap<ExpiringMap<true>>({
    ...FOREVER,
    maxEntries: MAX_IDENTITIES,
  });

  return {
    has({ account_sid = "", service_sid = "" }: ClaimedIdentity): boolean {
      return servicesByAccount.get(account_sid)?.get(service_sid) !== undefined;
    },
    add({ account_sid = "", service_sid = "" }: ClaimedIdentity): void {
      servicesByAccount.add(account_sid, createServices);
      servicesByAccount.get(account_sid)?.add(service_sid, () => true);
    },
  };
}
