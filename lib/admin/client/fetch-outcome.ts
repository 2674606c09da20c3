import type { Confirm } from "../../index";
import type { AdminClient } from "./client";

/**
 * Creates the function with which a wait asks the API of the service for an outcome, without a retry.
 *
 * @param isRecent whether an event of a date would be confirmed.
 */
export function createFetchOutcome(
  client: Pick<AdminClient, "accountSid" | "serviceSid" | "challenges">,
  isRecent: (date: string | null) => boolean,
): NonNullable<Confirm["fetchOutcome"]> {
  return async function fetchOutcome({ challengeSid, entityIdentity }, { signal }) {
    const key = { challengeSid, entityIdentity };
    const challenge = await client.challenges.fetch(key, { signal, maxRetries: 0 });
    const { sid, status, identity, factor_sid } = challenge;
    const { account_sid, service_sid, date_responded, date_updated } = challenge;
    if (status !== "approved" && status !== "denied") return undefined;
    const isOfClient =
      sid === challengeSid &&
      (account_sid ?? client.accountSid) === client.accountSid &&
      (service_sid ?? client.serviceSid) === client.serviceSid;
    if (!isOfClient || identity === null || factor_sid === null) return undefined;
    if (!isRecent(date_responded ?? date_updated)) return undefined;
    return {
      type: `challenge.${status}`,
      account_sid: client.accountSid,
      service_sid: client.serviceSid,
      challenge_sid: challengeSid,
      entity_identity: identity,
      factor_sid,
      at: new Date(),
      source: "service",
    };
  };
}
