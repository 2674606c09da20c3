import { hashText } from "../../kit/hash";
import type { ChallengeOutcome } from "./outcome";
import { WebhookError } from "../errors/webhook-error";

/** Finds the account that an event or a wait belongs to. */
export type AccountScope = ReturnType<typeof createAccountScope>;

/** The options of a receiver that decide its accounts. */
interface AccountScopeOptions {
  authToken: unknown;
  /** Undefined for every account. */
  allowedAccountSids: ReadonlySet<string> | undefined;
  /** Undefined for every service. */
  allowedServiceSids?: ReadonlySet<string> | undefined;
  name?: string | undefined;
  publicUrls: readonly string[];
}

/**
 * Creates the scope of a receiver. A signature authenticates only the account that owns the token;
 * the `account_sid` of an event is a claim of its signer. So the account of an event is:
 *
 * | authToken | allowedAccountSids | account |
 * | --- | --- | --- |
 * | a function | any | `account_sid`: the function returned the tokens of this account |
 * | texts | one SID | `account_sid`, which must be that SID |
 * | texts | several SIDs | the receiver and `account_sid`: one token authenticates no account |
 * | texts | not set | the receiver |
 *
 * The receiver is its `name`, or else a hash of the last publicUrl. It separates receivers that
 * share a queue.
 */
export function createAccountScope(options: AccountScopeOptions) {
  const { authToken, allowedAccountSids, allowedServiceSids, name, publicUrls } = options;
  const hasTokenPerAccount = typeof authToken === "function";
  // The last of a list stays the same while a domain moves.
  const impliedAccount = name ?? hashText(publicUrls.at(-1) ?? "");
  const [onlySid] = allowedAccountSids?.size === 1 ? allowedAccountSids : [];
  const isImplied = !hasTokenPerAccount && allowedAccountSids === undefined;
  // One token cannot authenticate several accounts: their keys stay within this receiver.
  const isClaimed = !hasTokenPerAccount && onlySid === undefined;
  const accountOf = (accountSid: string) =>
    isImplied ? impliedAccount : isClaimed ? `${impliedAccount} ${accountSid}` : accountSid;

  return {
    /** Returns the authenticated account of an event by its `account_sid`. */
    accountOf,
    /** Returns whether an outcome that the service told is of an account, and of an allowed service. */
    accepts(authenticatedAccount: string, { account_sid, service_sid }: ChallengeOutcome): boolean {
      return (
        allowedServiceSids?.has(service_sid) !== false &&
        accountOf(account_sid) === authenticatedAccount
      );
    },
    /**
     * Returns the authenticated account of a wait.
     *
     * @throws TypeError when a required `accountSid` is absent; WebhookError `ACCOUNT_NOT_ALLOWED`.
     */
    accountOfWait(accountSid: string | undefined): string {
      if (isImplied) return impliedAccount;
      const chosenSid = accountSid ?? onlySid;
      if (chosenSid === undefined) {
        throw new TypeError(
          "waitForChallenge: option accountSid is required, because this receiver has several accounts. Pass the account that the challenge was created in.",
        );
      }
      if (allowedAccountSids?.has(chosenSid) === false) {
        throw new WebhookError(
          "ACCOUNT_NOT_ALLOWED",
          "accountSid is not in allowedAccountSids. Pass an account of this list, or add it to the list.",
        );
      }
      return accountOf(chosenSid);
    },
  };
}
