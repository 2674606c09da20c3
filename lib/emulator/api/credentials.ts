import { EmulatorError } from "../emulator-error";
import type { StoredKeys } from "../resources/keys";

/** Owner of the credentials of a request: the account, a Main key or a Standard key. */
export type Identity = "account" | "main" | "standard";

/**
 * Authenticates an `Authorization` header: HTTP Basic with the account SID and auth token, or with a
 * key's SID and secret (section 5). Finds the key each time: once deleted, it is rejected at once.
 *
 * @throws EmulatorError 20003 for missing or wrong credentials.
 */
export function authenticate(
  authorization: string | undefined,
  account: { accountSid: string; authToken: string },
  keys: StoredKeys,
): Identity {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) {
    throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate", {
      "WWW-Authenticate": 'Basic realm="API"',
    });
  }
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const [, username = "", password] = /^([^:]*):(.*)$/s.exec(decoded) ?? [];
  if (username === account.accountSid && password === account.authToken) return "account";
  const key = keys.find(username);
  if (key !== undefined && key.secret === password) return key.type;
  throw new EmulatorError("NOT_AUTHENTICATED", "Authentication Error - invalid username");
}

/** Rejects a Standard key, which may not manage keys (section 5), with EmulatorError 20003. */
export function assertMayManageKeys(identity: Identity): void {
  if (identity === "standard") throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
}
