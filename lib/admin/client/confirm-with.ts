import { wholeNumber, validateOptions, type OptionRules } from "../../kit/validate-options";
import {
  type Confirm,
  type ConfirmContext,
  isChallengeEvent,
  type PushEvent,
} from "../../core/door";
import { ApiError } from "./api-error";
import type { AdminClient } from "./client";
import { createFetchOutcome } from "./fetch-outcome";
import type { Factors } from "./resources";

/** Options of {@link confirmWith}. */
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

/**
 * Creates the option `confirm` of a receiver or a worker: it asks the API of the service. With it,
 * `push.waitForChallenge` asks for an outcome whose event has not arrived. An event is confirmed if account and service are those of the client, and
 *
 * - its challenge has the same SID, user, factor and status, or
 * - for `factor.created` and `factor.verified`, its factor exists with the same user, and is verified
 *   for the second;
 * - and the response of the user, or the change of the factor, is not older than `maxAgeMs`;
 * - for `factor.deleted`, the user has no such factor, and the signed text has one reading: that it
 *   does not exist shows neither its age nor whose it was.
 *
 * @example
 * pushWebhooks({ authToken, publicUrl, confirm: confirmWith(client) });
 *
 * @throws TypeError for an option that is unknown or impossible. The function throws ApiError when
 *   the service does not respond.
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

  async function fetchAndCompare(event: PushEvent, signal: AbortSignal): Promise<boolean> {
    const { entity_identity: entityIdentity, factor_sid: factorSid } = event;
    if (isChallengeEvent(event)) {
      const challengeSid = event.challenge_sid;
      const challenge = await client.challenges.fetch({ entityIdentity, challengeSid }, { signal });
      return (
        challenge.sid === challengeSid &&
        challenge.identity === entityIdentity &&
        challenge.factor_sid === factorSid &&
        `challenge.${challenge.status}` === event.type &&
        isRecent(challenge.date_responded ?? challenge.date_updated)
      );
    }
    const factor = await client.factors.fetch({ entityIdentity, factorSid }, { signal });
    if (factor.sid !== factorSid || factor.identity !== entityIdentity) return false;
    if (event.type === "factor.created") return isRecent(factor.date_created);
    const isVerified = event.type === "factor.verified" && factor.status === "verified";
    return isVerified && isRecent(factor.date_updated);
  }

  async function confirm(event: PushEvent, { signal, ambiguity }: ConfirmContext) {
    if (event.account_sid !== client.accountSid) return false;
    if (event.service_sid !== client.serviceSid) return false;
    try {
      return await fetchAndCompare(event, signal);
    } catch (error) {
      // This user has no such challenge or factor.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      return event.type === "factor.deleted" && ambiguity === undefined;
    }
  }

  return Object.assign(confirm, { fetchOutcome: createFetchOutcome(client, isRecent) });
}
