import { EmulatorError } from "./errors";
import type { Keys } from "./keys";

/** Whose credentials a request carries: the account's own, or those of a key. */
export type Identity = "account" | "main" | "standard";

/**
 * Finds out whose credentials an Authorization header carries: HTTP Basic with the account SID and
 * auth token, or with the SID and secret of a key (specification, section 5). Keys are looked up
 * each time, so that a deleted one stops at once.
 *
 * @throws EmulatorError 20003 when there are none, or they are wrong.
 */
export function authenticate(
  authorization: string | undefined,
  account: { accountSid: string; authToken: string },
  keys: Keys,
): Identity {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) {
    throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate", {
      "WWW-Authenticate": 'Basic realm="API"',
    });
  }
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  const username = decoded.slice(0, Math.max(colon, 0));
  const password = decoded.slice(colon + 1);
  if (username === account.accountSid && password === account.authToken) return "account";
  const key = keys.find(username);
  if (key !== undefined && key.secret === password) return key.type;
  throw new EmulatorError("NOT_AUTHENTICATED", "Authentication Error - invalid username");
}

/**
 * Refuses what only the account itself or a Main key may do (specification, section 5).
 *
 * @throws EmulatorError 20003 for a Standard key.
 */
export function assertMayManageKeys(identity: Identity): void {
  if (identity === "standard") throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
}
