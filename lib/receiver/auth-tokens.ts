import { WebhookError } from "../errors/webhook-error";
import type { Pair } from "../form/form";
import { createRetry, within } from "../delivery/retry";
import { createLookupSlots } from "./lookup-slots";
import { createNeutralCause } from "../errors/neutral-cause";
import { createExpiringMap } from "../memory/expiring-map";
import { readClaimedIdentity, readTokens, warnOfWhitespace } from "./tokens";
import type { AuthTokenResolver, AuthTokens, ClaimedIdentity, UsableTokens } from "./tokens";

/** The tokens of the account that a webhook request claims to come from. */
export interface FoundTokens extends UsableTokens {
  /** Marks the claimed identity as verified: one of its tokens signed the request. */
  markVerified: () => void;
}

/** Options of {@link createFindTokens}. */
export interface LookupLimits {
  /** How many lookups of verified identities run at a time, and of others too. @default 50 */
  maxRunning?: number;
  /** How long a request waits for its tokens, in milliseconds. @default 8_000 */
  lookupMs?: number;
  /** How long an identity without a token is not looked up, in milliseconds. @default 10_000 */
  unknownMs?: number;
  /** How long an identity is not looked up after a failure, in milliseconds. @default 2_000 */
  failedMs?: number;
}

/** A lookup that requests with the same claimed identity share. */
interface RunningLookup {
  found: Promise<UsableTokens>;
  /** What the resolver threw last, if it failed. */
  failure: unknown;
}

const MAX_WAITING = 1_000;
const MAX_IDENTITIES = 10_000;
const MAX_SERVICES = 10;

/**
 * Creates the step that finds the tokens of the account that a request claims. The request is not
 * authenticated yet, so at most 100 lookups run at a time, and requests with the same claimed
 * identity share one. Half of them are reserved for identities that a signature has verified, so
 * that requests with invented accounts cannot delay these. Other identities without a token, or
 * whose lookup failed, are not looked up again for some seconds.
 *
 * The step stops at `deadlineAtMs`, in milliseconds of `performance.now()`. It throws a WebhookError
 * `TOKEN_UNAVAILABLE` if the resolver failed or did not respond, `OVERLOADED` if too many requests wait.
 */
export function createFindTokens(
  authToken: AuthTokens | AuthTokenResolver,
  { maxRunning = 50, lookupMs = 8_000, unknownMs = 10_000, failedMs = 2_000 }: LookupLimits = {},
): (params: readonly Pair[], deadlineAtMs?: number) => Promise<FoundTokens> {
  if (typeof authToken !== "function") {
    const found = { ...readTokens(authToken), markVerified() {} };
    return () => Promise.resolve(found);
  }
  const verified = createVerifiedIdentities();
  const unknown = createExpiringMap<true>({ ttlMs: unknownMs, maxEntries: MAX_IDENTITIES });
  const failed = createExpiringMap<true>({ ttlMs: failedMs, maxEntries: MAX_IDENTITIES });
  const lookUpVerified = createLookup(authToken, maxRunning, lookupMs);
  const lookUpOther = createLookup(authToken, maxRunning, lookupMs);
  const inFlight = new Map<string, RunningLookup>();

  async function lookUp(
    key: string,
    claimed: ClaimedIdentity,
    onAttemptFailed: (error: unknown) => void,
  ): Promise<UsableTokens> {
    const isVerified = verified.has(claimed);
    const lookUpIn = isVerified ? lookUpVerified : lookUpOther;
    try {
      const found = readTokens(await lookUpIn(claimed, onAttemptFailed));
      warnOfWhitespace("A token that the function authToken returned", found.tokens);
      if (found.tokens.length === 0 && !isVerified) unknown.add(key, () => true);
      return found;
    } catch (thrown) {
      const error = toTokenError(thrown);
      if (error.code === "TOKEN_UNAVAILABLE" && !isVerified) failed.add(key, () => true);
      throw error;
    } finally {
      inFlight.delete(key);
    }
  }

  function lookUpOnce(key: string, claimed: ClaimedIdentity): RunningLookup {
    const running = inFlight.get(key);
    if (running !== undefined) return running;
    const lookup: RunningLookup = {
      found: lookUp(key, claimed, (error) => void (lookup.failure = error)),
      failure: undefined,
    };
    inFlight.set(key, lookup);
    return lookup;
  }

  return async function findTokens(params, deadlineAtMs = Number.POSITIVE_INFINITY) {
    const claimed = readClaimedIdentity(params);
    const key = `${claimed.account_sid} ${claimed.service_sid}`;
    const markVerified = () => verified.add(claimed);
    if (unknown.get(key) !== undefined) return { ...readTokens(undefined), markVerified };
    if (failed.get(key) !== undefined) {
      const message = `The function authToken failed for this account less than ${failedMs} ms ago; that failure was reported.`;
      throw new WebhookError("TOKEN_UNAVAILABLE", message);
    }
    const lookup = lookUpOnce(key, claimed);
    const leftMs = deadlineAtMs - performance.now();
    const found = leftMs > lookupMs ? await lookup.found : await withinDeadline(lookup, leftMs);
    return { ...found, markVerified };
  };
}

/** Awaits a lookup until the deadline of the request; the lookup continues for other requests. */
async function withinDeadline(lookup: RunningLookup, leftMs: number): Promise<UsableTokens> {
  try {
    return await within(lookup.found, Math.max(leftMs, 1));
  } catch (error) {
    if (error instanceof WebhookError) throw error;
    if (lookup.failure === undefined) {
      const message = "The function authToken did not respond before the deadline of the request.";
      throw new WebhookError("TOKEN_UNAVAILABLE", message);
    }
    const message =
      "The function authToken failed until the deadline of the request; see the cause.";
    const cause = createNeutralCause(lookup.failure);
    throw new WebhookError("TOKEN_UNAVAILABLE", message, { cause });
  }
}

/** Converts an error of a getter or a proxy that the function authToken returned. */
function toTokenError(thrown: unknown): WebhookError {
  if (thrown instanceof WebhookError) return thrown;
  const message =
    "The value that the function authToken returned cannot be read; see the cause. Return a string, a list of strings or undefined.";
  return new WebhookError("TOKEN_UNAVAILABLE", message, { cause: createNeutralCause(thrown) });
}

function createLookup(authToken: AuthTokenResolver, maxRunning: number, lookupMs: number) {
  const retry = createRetry({
    code: "TOKEN_UNAVAILABLE",
    what: "the function authToken",
    retryForMs: lookupMs,
    attemptWhenFullMs: lookupMs,
    // Few attempts, because the request is not authenticated yet.
    firstPauseMs: 500,
    longestPauseMs: 4_000,
  });
  const runInSlot = createLookupSlots({
    maxRunning,
    maxWaiting: MAX_WAITING,
    // A lookup that starts later would rarely end in time.
    maxWaitMs: 0.6 * lookupMs,
    maxRunMs: lookupMs,
  });
  return (claimed: ClaimedIdentity, onAttemptFailed: (error: unknown) => void) =>
    retry(() => runInSlot(() => authToken(claimed)), undefined, onAttemptFailed);
}

const FOREVER = { ttlMs: Number.POSITIVE_INFINITY };

/** Creates a bounded set of identities that a signature has verified; drops the oldest first. */
function createVerifiedIdentities() {
  const createServices = () => createExpiringMap<true>({ ...FOREVER, maxEntries: MAX_SERVICES });
  // By account, because a signature authenticates only the account: an account that signs invented
  // services displaces only services of its own.
  const servicesByAccount = createExpiringMap<ReturnType<typeof createServices>>({
    ...FOREVER,
    maxEntries: MAX_IDENTITIES,
  });

  return {
    has: ({ account_sid = "", service_sid = "" }: ClaimedIdentity) =>
      servicesByAccount.get(account_sid)?.get(service_sid) !== undefined,
    add({ account_sid = "", service_sid = "" }: ClaimedIdentity): void {
      servicesByAccount.add(account_sid, createServices);
      servicesByAccount.get(account_sid)?.add(service_sid, () => true);
    },
  };
}
