import { formatIso8601 } from "./dates";
import { keepNewest } from "../../kit/keep-newest";
import { createDigits, createSid } from "../../kit/sid";

/** Token with which a device may create one factor of a user. */
export interface AccessToken {
  sid: string;
  token: string;
  entity_identity: string;
  factor_type: string;
  factor_friendly_name: string | null;
  /** In seconds. */
  ttl: number;
  date_created: string;
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

const MAX_ACCESS_TOKENS = 10_000;

/** Creates the access tokens of the service; each expires after its `ttl`. */
export function createAccessTokens(now: () => number) {
  const accessTokens = new Map<string, AccessToken>();

  return {
    create(fields: Omit<AccessToken, "sid" | "token" | "date_created">): AccessToken {
      const sid = createSid("YK");
      const token = createDigits();
      const date_created = formatIso8601(now());
      const accessToken = { sid, token, ...fields, date_created };
      keepNewest(accessTokens, sid, accessToken, MAX_ACCESS_TOKENS);
      return accessToken;
    },
    find: (sid = "") => accessTokens.get(sid),
    /** Finds the access token that a device sends, unless it has expired. */
    authenticate: (token: string): AccessToken | undefined =>
      [...accessTokens.values()].find(
        (one) => one.token === token && Date.parse(one.date_created) + one.ttl * 1000 > now(),
      ),
  };
}
