import { wholeNumber, validateOptions, type OptionRules } from "../../validation/validate-options";
import type { Confirm } from "../../delivery/confirmation";
import { isChallengeEvent } from "../../event/event";
import { ApiError } from "./api-error";
import type { FetchedChallenge } from "./challenge";
import type { Challenges } from "./client";

/** Options of {@link confirmWith}. */
export interface ConfirmWithOptions {
  /**
   * How long ago the user may have responded to the challenge, in milliseconds: an older event is a
   * replay. @default 86_400_000 (24 h)
   */
  maxAgeMs?: number | undefined;
}

const RULES: OptionRules<ConfirmWithOptions> = {
  maxAgeMs: wholeNumber(1, Number.MAX_SAFE_INTEGER, "milliseconds"),
};

/**
 * Creates the option `confirm` of a receiver or a worker: it fetches the challenge of an event from
 * the API of the service. The event is confirmed if the SIDs of challenge, service and factor, the
 * user and the status are equal, and the response of the user is not older than `maxAgeMs`.
 *
 * @example
 * pushWebhooks({ authToken, publicUrl, confirm: confirmWith(client) });
 *
 * @throws TypeError for an option that is unknown or impossible. The function throws ApiError when
 *   the service does not respond, and TypeError for an event of a factor.
 */
export function confirmWith(
  client: { readonly challenges: Challenges },
  options: ConfirmWithOptions = {},
): Confirm {
  validateOptions("confirmWith", options, RULES);
  const { maxAgeMs = 86_400_000 } = options;

  return async function confirm(event, { signal }) {
    if (!isChallengeEvent(event)) {
      throw new TypeError(
        "confirmWith confirms events of challenges only. Remove the other types from confirmTypes.",
      );
    }
    const { entity_identity: entityIdentity, challenge_sid: challengeSid } = event;
    let challenge: FetchedChallenge;
    try {
      challenge = await client.challenges.fetch({ entityIdentity, challengeSid }, { signal });
    } catch (error) {
      // The service has no such challenge of this user.
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
    const respondedMs = Date.parse(challenge.date_responded ?? challenge.date_updated ?? "");
    return (
      challenge.sid === challengeSid &&
      challenge.service_sid === event.service_sid &&
      challenge.identity === entityIdentity &&
      challenge.factor_sid === event.factor_sid &&
      `challenge.${challenge.status}` === event.type &&
      // False for a date that is missing or unreadable.
      Date.now() - respondedMs <= maxAgeMs
    );
  };
}
