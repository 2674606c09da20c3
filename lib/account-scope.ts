import { WebhookError } from "./errors";
import type { PushEvent, UnknownPushEvent } from "./event";

/** Which account an event or a wait belongs to. */
export interface AccountScope {
  /** Returns the authenticated account of an event, as an `OutcomeKey` has it. */
  accountOf(event: PushEvent | UnknownPushEvent): string;
  /**
   * Returns the account of a wait, as an `OutcomeKey` has it.
   *
   * @throws TypeError when it must be given and is not; WebhookError `ACCOUNT_NOT_ALLOWED`.
   */
  accountOfWait(accountSid: string | undefined): string;
}

/** What the scope of a receiver is made of. */
export interface AccountScopeOptions {
  /** Whether `authToken` is a function. */
  hasTokenPerAccount: boolean;
  /** Undefined for every account. */
  allowedAccountSids: ReadonlySet<string> | undefined;
  /** Stands for the account of a static token whose SID is not configured. */
  impliedAccount: string;
}

/**
 * Creates the scope of a receiver.
 *
 * A signature authenticates the account whose token made it and nothing else. With a function, the
 * account is the one that the function was asked for. A static token is that of one account; while
 * its SID is not configured, the `account_sid` of an event is only a claim of its signer, and
 * `impliedAccount` keeps receivers that share a queue apart.
 */
export function createAccountScope({
  hasTokenPerAccount,
  allowedAccountSids,
  impliedAccount,
}: AccountScopeOptions): AccountScope {
  const [onlySid] = allowedAccountSids?.size === 1 ? allowedAccountSids : [];
  const isImplied = !hasTokenPerAccount && allowedAccountSids === undefined;
  // One token cannot authenticate several accounts: their keys stay within this receiver.
  const isClaimed = !hasTokenPerAccount && onlySid === undefined;
  const keyOf = (accountSid: string) =>
    isImplied ? impliedAccount : isClaimed ? `${impliedAccount} ${accountSid}` : accountSid;

  return {
    accountOf: (event) => keyOf(event.account_sid),
    accountOfWait(accountSid) {
      if (isImplied) return impliedAccount;
      const account = accountSid ?? onlySid;
      if (account === undefined) {
        throw new TypeError(
          "waitForChallenge: option accountSid is required, because this receiver has several accounts. Pass the account that the challenge was created in.",
        );
      }
      if (allowedAccountSids?.has(account) === false) {
        throw new WebhookError("ACCOUNT_NOT_ALLOWED", "accountSid is not in allowedAccountSids.");
      }
      return keyOf(account);
    },
  };
}
