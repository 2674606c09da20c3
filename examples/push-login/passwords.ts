import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const hash = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  bytes: number,
) => Promise<Buffer>;

/** Returns whether a user exists and has this password. */
export type CheckPassword = (user: string, password: string) => Promise<boolean>;

/** Creates the check for a list of users and their passwords. */
export async function createCheckPassword(
  passwords: Readonly<Record<string, string>>,
): Promise<CheckPassword> {
  const salt = randomBytes(16);
  const hashes = new Map<string, Buffer>();
  for (const [user, password] of Object.entries(passwords)) {
    hashes.set(user, await hash(password, salt, 32));
  }
  const none = randomBytes(32);

  return async function checkPassword(user, password) {
    // Hashed for an unknown user too: the duration must not show which users exist.
    const given = await hash(password, salt, 32);
    return timingSafeEqual(given, hashes.get(user) ?? none);
  };
}
