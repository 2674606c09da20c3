import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const hash = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  bytes: number,
) => Promise<Buffer>;

/** A user of the app. */
export interface User {
  password: string;
  /** Identity at the service: 8 to 64 letters, digits and dashes, and nothing personal. */
  entityIdentity: string;
}

/** Returns the identity of a user that exists and has this password. */
export type CheckPassword = (user: string, password: string) => Promise<string | undefined>;

/** Creates the check for a list of users by name. */
export async function createCheckPassword(
  users: Readonly<Record<string, User>>,
): Promise<CheckPassword> {
  const salt = randomBytes(16);
  const known = new Map<string, { hashed: Buffer; entityIdentity: string }>();
  for (const [name, { password, entityIdentity }] of Object.entries(users)) {
    known.set(name, { hashed: await hash(password, salt, 32), entityIdentity });
  }
  const none = randomBytes(32);

  return async function checkPassword(name, password) {
    // Hashed for an unknown user too: the duration must not show which users exist.
    const given = await hash(password, salt, 32);
    const user = known.get(name);
    return timingSafeEqual(given, user?.hashed ?? none) ? user?.entityIdentity : undefined;
  };
}
