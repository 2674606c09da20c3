import { onAbort } from "./abort-signal";
import type { AccountScope } from "./account-scope";
import { WebhookError } from "./errors";
import type { ChallengeEvent } from "./event";
import { sidSchema } from "./event-schema";
import { checkOptions, MAX_TIMER_MS, wholeNumber, type OptionRules } from "./option-rules";
import type { OutcomeStore } from "./outcome-store";

/** Options of `waitForChallenge`. */
export interface WaitOptions {
  /** The SID that the service gave the challenge. */
  challengeSid: string;
  /** The user whose answer it must be: an outcome of another user rejects the wait. */
  entityIdentity: string;
  /**
   * The account that the challenge was created in. Required when `authToken` is a function or
   * `allowedAccountSids` has several; otherwise @default the account of the receiver
   */
  accountSid?: string | undefined;
  /** In milliseconds. @default 300_000, the 5 minutes after which a challenge expires */
  timeoutMs?: number | undefined;
  /** Ends the wait: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** Waits for the outcome of a challenge; see the method of `PushWebhooks`. */
export type WaitForChallenge = (options: WaitOptions) => Promise<ChallengeEvent>;

const DEFAULT_TIMEOUT_MS = 300_000;
const isText = (value: unknown) => typeof value === "string" && value !== "";
const challengeSidSchema = sidSchema("YC");
const accountSidSchema = sidSchema("AC");

const RULES: OptionRules<WaitOptions> = {
  // Input of a user in most logins: rejected with a status, below.
  challengeSid: { accepts: () => true, expected: "the SID of a challenge" },
  entityIdentity: {
    accepts: isText,
    expected: "the entity_identity of the user who logs in",
    required: true,
    secret: true,
  },
  accountSid: {
    accepts: (value) => accountSidSchema.safeParse(value).success,
    expected: "the SID of the account that the challenge was created in",
  },
  timeoutMs: wholeNumber(1, MAX_TIMER_MS, "milliseconds"),
  signal: { accepts: (value) => value instanceof AbortSignal, expected: "an AbortSignal" },
};

/** The waits of one receiver. */
export interface ChallengeWaits {
  waitForChallenge: WaitForChallenge;
  /** Rejects the pending waits of this receiver in the same turn, and every later wait. */
  close(): void;
}

/** Creates the waits of a receiver: an outcome resolves only waits of its account and user. */
export function createChallengeWaits(outcomes: OutcomeStore, scope: AccountScope): ChallengeWaits {
  const closing = new AbortController();

  async function waitForChallenge(options: WaitOptions): Promise<ChallengeEvent> {
    checkOptions("waitForChallenge", options, RULES);
    const { challengeSid, entityIdentity, accountSid, signal } = options;
    for (const stopped of [closing.signal, signal]) stopped?.throwIfAborted();
    if (!challengeSidSchema.safeParse(challengeSid).success) {
      throw new WebhookError(
        "CHALLENGE_SID_INVALID",
        "challengeSid must be YC and 32 hexadecimal digits: the sid that the service gave the challenge.",
      );
    }
    const account = scope.accountOfWait(accountSid);
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const event = await waitUntilStopped([closing.signal, signal], (stop) =>
      outcomes.wait({ account, challengeSid, timeoutMs, signal: stop }),
    );
    if (accountSid !== undefined && event.account_sid !== accountSid) {
      throw new WebhookError(
        "ACCOUNT_NOT_ALLOWED",
        "The outcome of this challenge is of another account than accountSid.",
      );
    }
    if (event.entity_identity !== entityIdentity) {
      throw new WebhookError(
        "ENTITY_MISMATCH",
        "The outcome of this challenge is of another user than entityIdentity: the challenge does not belong to this login.",
      );
    }
    return event;
  }

  return {
    waitForChallenge,
    close() {
      const message = "The receiver is closing: no outcome will arrive.";
      closing.abort(new WebhookError("CLOSING", message));
    },
  };
}

/** Runs a wait with a signal that aborts when one of several does. */
async function waitUntilStopped<Value>(
  signals: readonly (AbortSignal | undefined)[],
  wait: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController();
  const removers = signals.map(
    (signal) => signal && onAbort(signal, () => stop.abort(signal.reason)),
  );
  try {
    return await wait(stop.signal);
  } finally {
    for (const remove of removers) remove?.();
  }
}
