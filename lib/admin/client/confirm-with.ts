import { wholeNumber, validateOptions, type OptionRules } from "../../kit/validate-options";
import type { Confirm, PushEvent } from "../../index";
import { ApiError } from "./api-error";
import type { AdminClient } from "./client";
import { createFetchOutcome } from "./fetch-outcome";
import { InputError } from "./input-error";
import type { Factors } from "./resources";

/** What {@link confirmWith} takes. */
export interface ConfirmWithOptions {
  /**
   * How long ago the user may have responded to the challenge, or the factor may have changed, in
   * milliseconds: an older event is a replay. @default 86_400_000 (24 h)
   */
  maxAgeMs?: number | undefined;
}

const RULES: OptionRules<ConfirmWithOptions> = {
  maxAgeMs: wholeNumber(1, Number.MAX_SAFE_INTEGER, "milliseconds"),
};

/** A gateway responds 404 without this error number. */
const NOT_FOUND = 20404;

/**
 * Creates the option `confirm` of a receiver or a worker: it asks the API of the service, with one
 * request a call. With it, `push.waitForChallenge` asks for an outcome whose event has not arrived.
 * An event is confirmed if it has the account and the service of the client, and
 *
 * - its challenge has the same SID, user, factor and status, or
 * - for `factor.created` and `factor.verified`, its factor exists with the same user, and is verified
 *   for the second;
 * - and the response of the user, or the change of the factor, is not older than `maxAgeMs`;
 * - for `factor.deleted`, the user has no such factor, and the signed text has one reading: that it
 *   does not exist shows neither its age nor whose it was.
 *
 * It returns `"pending"` for an earlier state, such as a factor that still exists after
 * `factor.deleted`. An identity that the API cannot have is not confirmed. A 404 counts only with the
 * service's error number 20404: a gateway may respond 404, too.
 *
 * @example
 * pushWebhooks({ authToken, publicUrl, confirm: confirmWith(client) });
 *
 * @throws TypeError for an option that is unknown or impossible. The function throws ApiError for
 *   any other response, and when there is none.
 */
export function confirmWith(
  client: Pick<AdminClient, "accountSid" | "serviceSid" | "challenges"> & {
    readonly factors: Pick<Factors, "fetch">;
  },
  options: ConfirmWithOptions = {},
): Confirm {
  validateOptions("confirmWith", options, RULES);
  const { maxAgeMs = 86_400_000 } = options;
  // False for a date that is missing or unreadable.
  const isRecent = (date: string | null) => Date.now() - Date.parse(date ?? "") <= maxAgeMs;

  async function fetchAndCompare(
    event: PushEvent,
    signal: AbortSignal,
  ): Promise<boolean | "pending"> {
    const { type, entity_identity: entityIdentity, factor_sid: factorSid } = event;
    // The receiver and the worker call again after a failure.
    const once = { signal, maxRetries: 0 };
    if ("challenge_sid" in event) {
      const challengeSid = event.challenge_sid;
      const challenge = await client.challenges.fetch({ entityIdentity, challengeSid }, once);
      const { sid, identity, factor_sid, status } = challenge;
      const isSame =
        sid === challengeSid && identity === entityIdentity && factor_sid === factorSid;
      if (!isSame) return false;
      if (status === "pending") return "pending";
      const respondedAt = challenge.date_responded ?? challenge.date_updated;
      return `challenge.${status}` === type && isRecent(respondedAt);
    }
    const factor = await client.factors.fetch({ entityIdentity, factorSid }, once);
    if (factor.sid !== factorSid || factor.identity !== entityIdentity) return false;
    if (type === "factor.created") return isRecent(factor.date_created);
    if (type === "factor.deleted" || factor.status === "unverified") return "pending";
    return factor.status === "verified" && isRecent(factor.date_updated);
  }

  async function confirm(...[event, { signal, ambiguity }]: Parameters<Confirm>) {
    if (event.account_sid !== client.accountSid) return false;
    if (event.service_sid !== client.serviceSid) return false;
    const isDeletion = event.type === "factor.deleted";
    if (isDeletion && ambiguity !== undefined) return false;
    try {
      return await fetchAndCompare(event, signal);
    } catch (error) {
      if (error instanceof InputError) return false;
      const isAnswer = error instanceof ApiError && error.serviceCode === NOT_FOUND;
      if (isAnswer && error.status === 404) return isDeletion;
      throw error;
    }
  }

  return Object.assign(confirm, { fetchOutcome: createFetchOutcome(client, isRecent) });
}
