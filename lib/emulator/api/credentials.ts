import { EmulatorError } from "../emulator-error";
import type { AccessToken, AccessTokens } from "../resources/access-tokens";
import type { StoredKeys } from "../resources/keys";

/** Who sent a request: the account, a Main key, a Standard key, or a device with an access token. */
export type Caller = "account" | "main" | "standard" | AccessToken;

/** The name with which a device sends its access token in place of a password. */
const DEVICE_NAME = "token";

/**
 * Authenticates an `Authorization` header: HTTP Basic with the account SID and auth token, with a
 * key's SID and secret (section 5), or with `token` and an access token. Finds the key each time:
 * once deleted, it is rejected.
 *
 * @throws EmulatorError 20003 for missing or wrong credentials.
 */
export function authenticate(
  authorization: string | undefined,
  account: { accountSid: string; authToken: string },
  keys: StoredKeys,
  accessTokens: AccessTokens,
): Caller {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) {
    throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate", {
      "WWW-Authenticate": 'Basic realm="API"',
    });
  }
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(decoded) ?? [];
  if (username === account.accountSid && password === account.authToken) return "account";
  const key = keys.find(username);
  if (key !== undefined && key.secret === password) return key.type;
  const accessToken = username === DEVICE_NAME ? accessTokens.authenticate(password) : undefined;
  if (accessToken !== undefined) return accessToken;
  throw new EmulatorError("NOT_AUTHENTICATED", "Authentication Error - invalid username");
}

/** Accepts the account and Main keys only (section 5): EmulatorError 20003 for other callers. */
export function assertMayManageKeys(caller: Caller): void {
  if (caller !== "account" && caller !== "main") {
    throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
  }
}
