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

/**
 * Creates the scope of a receiver.
 *
 * A signature authenticates the account whose token made it and nothing else. A static token is
 * that of one account: its outcomes need no account in their key while its SID is not configured.
 * With a function, the account is the one that the function was asked for.
 *
 * @param hasTokenPerAccount whether `authToken` is a function.
 * @param allowedAccountSids undefined for every account.
 */
export function createAccountScope(
  hasTokenPerAccount: boolean,
  allowedAccountSids: ReadonlySet<string> | undefined,
): AccountScope {
  const [onlySid] = allowedAccountSids?.size === 1 ? allowedAccountSids : [];
  const isImplied = !hasTokenPerAccount && allowedAccountSids === undefined;

  return {
    accountOf: (event) => (isImplied ? "" : event.account_sid),
    accountOfWait(accountSid) {
      if (isImplied) return "";
      const account = accountSid ?? onlySid;
      if (account === undefined) {
        throw new TypeError(
          "waitForChallenge: option accountSid is required, because this receiver has several accounts. Pass the account that the challenge was created in.",
        );
      }
      if (allowedAccountSids?.has(account) === false) {
        throw new WebhookError("ACCOUNT_NOT_ALLOWED", "accountSid is not in allowedAccountSids.");
      }
      return account;
    },
  };
}
