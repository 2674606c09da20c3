import { setMaxListeners } from "node:events";
import type { AccountScope } from "./account-scope";
import { WebhookError } from "../errors/webhook-error";
import type { ChallengeEvent } from "../event/event";
import { isSid } from "../../kit/sid";
import { DURATION_MS, sidRule } from "../../kit/option-rules";
import { isText, validateOptions, type OptionRules } from "../../kit/validate-options";
import { createClosingError, type OutcomeStore, type OutcomeWait } from "./outcome-store";

/** Options of `waitForChallenge`. */
export interface WaitOptions {
  /** The SID of the challenge, from the response of the service that created it. */
  challengeSid: string;
  /** The `entity_identity` of the user; the outcome of another user rejects the wait. */
  entityIdentity: string;
  /**
   * The account that the challenge was created in. Required when `allowedAccountSids` has several
   * accounts, or is not set and `authToken` is a function. @default the account of the receiver
   */
  accountSid?: string | undefined;
  /** The longest wait, in milliseconds. @default 300_000: a challenge expires after 5 minutes */
  timeoutMs?: number | undefined;
  /** Cancels the wait, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

const RULES: OptionRules<WaitOptions> = {
  // In most logins this is input of a user, so it is checked below and rejected with a status.
  challengeSid: { accepts: () => true, expected: "the SID of a challenge" },
  entityIdentity: {
    accepts: isText,
    expected: "the entity_identity of the user who logs in",
    required: true,
    secret: true,
  },
  accountSid: sidRule("AC"),
  timeoutMs: DURATION_MS,
  signal: { accepts: (value) => value instanceof AbortSignal, expected: "an AbortSignal" },
};

/** A wait of a receiver that is pending now. */
export interface PendingWait {
  challengeSid: string;
  entityIdentity: string;
  /** When it began, as `performance.now()` counts. */
  startMs: number;
}

/** Creates the waits of a receiver: an outcome resolves only waits of its account and user. */
export function createChallengeWaits(outcomes: OutcomeStore, scope: AccountScope) {
  /** In the order of insertion. */
  const pending = new Map<AbortController, PendingWait>();
  let isClosed = false;

  async function waitForChallenge(options: WaitOptions): Promise<ChallengeEvent> {
    validateOptions("waitForChallenge", options, RULES);
    const { challengeSid, entityIdentity, accountSid, timeoutMs = 300_000, signal } = options;
    if (isClosed) throw createClosingError();
    signal?.throwIfAborted();
    if (!isSid("YC", challengeSid)) {
      throw new WebhookError(
        "CHALLENGE_SID_INVALID",
        "challengeSid must be YC and 32 hexadecimal digits. Pass the sid of the challenge as the service returned it.",
      );
    }
    const account = scope.accountOfWait(accountSid);
    const event = await waitUntilStopped({
      account,
      challengeSid,
      entityIdentity,
      timeoutMs,
      signal,
    });
    if (accountSid !== undefined && event.account_sid !== accountSid) {
      const message = "The outcome of this challenge belongs to another account than accountSid.";
      throw new WebhookError("ACCOUNT_NOT_ALLOWED", message);
    }
    if (event.entity_identity !== entityIdentity) {
      throw new WebhookError(
        "ENTITY_MISMATCH",
        "The outcome of this challenge belongs to another user than entityIdentity. Reject the login: the challenge is not its own.",
      );
    }
    return event;
  }

  async function waitUntilStopped({
    signal,
    ...wait
  }: OutcomeWait & Pick<PendingWait, "entityIdentity">): Promise<ChallengeEvent> {
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    if (signal !== undefined) {
      // Many waits may share a signal, such as that of a shutdown: above ten listeners, Node warns.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort);
    }
    const { challengeSid, entityIdentity } = wait;
    pending.set(stop, { challengeSid, entityIdentity, startMs: performance.now() });
    try {
      return await outcomes.wait({ ...wait, signal: stop.signal });
    } finally {
      pending.delete(stop);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  return {
    waitForChallenge,
    /** Lists the pending waits, the oldest first. */
    listPending: () => [...pending.values()],
    /** Rejects the pending waits of this receiver in the same turn, and every later wait. */
    close(): void {
      isClosed = true;
      for (const stop of pending.keys()) stop.abort(createClosingError());
    },
  };
}
