import { randomInt, randomUUID } from "node:crypto";

/** A login whose password was right, and that waits for the phone. */
export interface LoginAttempt {
  id: string;
  /** The user, the account and the challenge that an outcome must be of. */
  entityIdentity: string;
  accountSid: string;
  challengeSid: string;
  /** What the page shows while it waits. */
  phoneName: string;
  device: string;
  /** Shown on the page and on the phone, so that the user can compare. */
  number: number;
  expiresAtMs: number;
}

/** The logins that wait for their phones, in memory: a server of several processes needs a store. */
export interface LoginAttempts {
  /** Returns the id and the number of a new attempt. */
  begin(): { id: string; number: number; expiresAtMs: number };
  add(attempt: LoginAttempt): void;
  /** Returns an attempt that has neither expired nor ended. */
  find(id: string | undefined): LoginAttempt | undefined;
  /** Ends an attempt; returns false when it has ended before. */
  end(id: string): boolean;
}

/** Creates an empty list of attempts; each expires after `ttlMs`. */
export function createLoginAttempts(ttlMs: number, maxAttempts = 10_000): LoginAttempts {
  const attempts = new Map<string, LoginAttempt>();

  return {
    begin: () => ({
      id: randomUUID(),
      number: randomInt(10, 100),
      expiresAtMs: Date.now() + ttlMs,
    }),
    add(attempt) {
      // Insertion order is the order of expiry.
      for (const [id, { expiresAtMs }] of attempts) {
        if (expiresAtMs > Date.now() && attempts.size < maxAttempts) break;
        attempts.delete(id);
      }
      attempts.set(attempt.id, attempt);
    },
    find(id) {
      const attempt = id === undefined ? undefined : attempts.get(id);
      return attempt !== undefined && attempt.expiresAtMs > Date.now() ? attempt : undefined;
    },
    end: (id) => attempts.delete(id),
  };
}
