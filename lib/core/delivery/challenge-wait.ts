import { setMaxListeners } from "node:events";
import type { AccountScope } from "./account-scope";
import { WebhookError } from "../errors/webhook-error";
import { createNeutralCause } from "../../kit/neutral-cause";
import { isSid } from "../../kit/sid";
import { DURATION_MS, sidRule } from "../../kit/option-rules";
import { isText, validateOptions, type OptionRules } from "../../kit/validate-options";
import { Inquiry } from "./inquiry";
import type { ChallengeOutcome, FetchOutcome } from "./outcome";
import { createClosingError, type OutcomeStore, type OutcomeWait } from "./outcome-store";

/** The challenge that a login waits for, and its user. */
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

type ChallengeOfWait = Parameters<FetchOutcome>[0];

/** A pending wait. */
export interface PendingWait {
  challengeSid: string;
  entityIdentity: string;
  /** When it began, in milliseconds since 1970. */
  startedAtMs: number;
}

/** The waits of a receiver: an outcome resolves only waits of its account and user. */
export class ChallengeWaits {
  readonly #outcomes: OutcomeStore;
  readonly #scope: AccountScope;
  readonly #fetchOutcome: FetchOutcome | undefined;
  readonly #pending = new Map<AbortController, PendingWait>();
  #isClosed = false;

  /**
   * @param fetchOutcome asks the service for an outcome that has not arrived.
   */
  constructor(outcomes: OutcomeStore, scope: AccountScope, fetchOutcome?: FetchOutcome) {
    this.#outcomes = outcomes;
    this.#scope = scope;
    this.#fetchOutcome = fetchOutcome;
  }

  async wait(options: WaitOptions): Promise<ChallengeOutcome> {
    validateOptions("waitForChallenge", options, RULES);
    const { challengeSid, entityIdentity, accountSid, timeoutMs = 300_000, signal } = options;
    if (this.#isClosed) throw createClosingError();
    signal?.throwIfAborted();
    if (!isSid("YC", challengeSid)) {
      throw new WebhookError(
        "CHALLENGE_SID_INVALID",
        "challengeSid must be YC and 32 hexadecimal digits. Pass the sid of the challenge as the service returned it.",
      );
    }
    const authenticatedAccount = this.#scope.accountOfWait(accountSid);
    const challenge = { challengeSid, entityIdentity, accountSid };
    const outcome = await this.#waitUntilStopped(challenge, {
      authenticatedAccount,
      timeoutMs,
      signal,
    });
    if (accountSid !== undefined && outcome.account_sid !== accountSid) throw createAccountError();
    if (outcome.entity_identity !== entityIdentity) {
      throw new WebhookError(
        "ENTITY_MISMATCH",
        "The outcome of this challenge belongs to another user than entityIdentity. Reject the login: the challenge is not its own.",
      );
    }
    return outcome;
  }

  /** The oldest first. */
  listPending(): PendingWait[] {
    return [...this.#pending.values()];
  }

  /** Rejects the pending waits of this receiver in the same turn, and every later wait. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#pending.keys()) stop.abort(createClosingError());
  }

  async #waitUntilStopped(
    challenge: ChallengeOfWait,
    { signal, ...wait }: Pick<OutcomeWait, "authenticatedAccount" | "timeoutMs" | "signal">,
  ): Promise<ChallengeOutcome> {
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    if (signal !== undefined) {
      // Many waits may share a signal, such as a shutdown: above ten listeners, Node.js warns.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort);
    }
    const { challengeSid, entityIdentity } = challenge;
    this.#pending.set(stop, { challengeSid, entityIdentity, startedAtMs: Date.now() });
    const ask = this.#fetchOutcome;
    const inquiry =
      ask &&
      new Inquiry(wait.timeoutMs, () =>
        this.#askService(ask, challenge, wait.authenticatedAccount, stop),
      );
    try {
      const own = { ...wait, challengeSid, entityIdentity, signal: stop.signal };
      return await this.#outcomes.wait(own);
    } catch (error) {
      throw addInquiryError(error, inquiry?.error);
    } finally {
      inquiry?.stop();
      stop.abort();
      this.#pending.delete(stop);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The answer wakes the waits for this challenge in every process, unless an outcome came first. */
  async #askService(
    ask: FetchOutcome,
    challenge: ChallengeOfWait,
    authenticatedAccount: string,
    stop: AbortController,
  ): Promise<void> {
    const outcome = await ask(challenge, { signal: stop.signal });
    if (outcome === undefined || stop.signal.aborted) return;
    if (this.#scope.accepts(authenticatedAccount, outcome))
      await this.#outcomes.record(authenticatedAccount, outcome);
    else stop.abort(createAccountError());
  }
}

function createAccountError(): WebhookError {
  const message = "The outcome of this challenge belongs to another account than the wait.";
  return new WebhookError("ACCOUNT_NOT_ALLOWED", message);
}

/** Adds to a time-out why the service could not be asked. */
function addInquiryError(error: unknown, reason: unknown): unknown {
  if (reason === undefined || !(error instanceof WebhookError)) return error;
  if (error.code !== "CHALLENGE_TIMEOUT") return error;
  const message = `${error.message} The service, asked for it, gave no answer; see the cause.`;
  return new WebhookError(error.code, message, { cause: createNeutralCause(reason, 1) });
}
