import { randomInt, randomUUID } from "node:crypto";

/** A login whose password was right, and that waits for the phone. */
export interface LoginAttempt {
  id: string;
  user: string;
  /** The user and the challenge that an outcome must be of. */
  entityIdentity: string;
  challengeSid: string;
  /** Shown on the page while it waits. */
  phoneName: string;
  device: string;
  /** Shown on the page; the user chooses it on the phone among others. */
  number: number;
  expiresAtMs: number;
  /** Aborted when the attempt is cancelled: the waits of all tabs end. */
  cancelled: AbortSignal;
}

/** The logins that wait for their phones, in memory: a server of several processes needs a store. */
export interface LoginAttempts {
  /** Begins an attempt; undefined when a user has too many open attempts. */
  begin(fields: Pick<LoginAttempt, "user" | "entityIdentity" | "device">): LoginAttempt | undefined;
  /** Returns an attempt that has neither expired nor ended. */
  find(id: string | undefined): LoginAttempt | undefined;
  /** Ends an attempt; returns false when it has ended before. */
  end(id: string): boolean;
  /** Ends an attempt, and each wait for it. */
  cancel(id: string): void;
}

/** An attacker who knows a password must not flood the phone with requests. */
const MAX_ATTEMPTS_PER_USER = 5;

/** Creates an empty list of attempts; each expires after `ttlMs`. */
export function createLoginAttempts(ttlMs: number): LoginAttempts {
  const attempts = new Map<string, LoginAttempt>();
  const controllers = new WeakMap<LoginAttempt, AbortController>();

  function dropExpired(): void {
    // Insertion order is the order of expiry.
    for (const [id, { expiresAtMs }] of attempts) {
      if (expiresAtMs > Date.now()) return;
      attempts.delete(id);
    }
  }

  return {
    begin(fields) {
      dropExpired();
      const open = [...attempts.values()].filter(({ user }) => user === fields.user);
      if (open.length >= MAX_ATTEMPTS_PER_USER) return undefined;
      const controller = new AbortController();
      const attempt: LoginAttempt = {
        id: randomUUID(),
        ...fields,
        challengeSid: "",
        phoneName: "",
        number: randomInt(10, 100),
        expiresAtMs: Date.now() + ttlMs,
        cancelled: controller.signal,
      };
      controllers.set(attempt, controller);
      attempts.set(attempt.id, attempt);
      return attempt;
    },
    // What has expired stays: a wait that ends at the same time still tells its browser how.
    find(id = "") {
      const attempt = attempts.get(id);
      return attempt !== undefined && attempt.expiresAtMs > Date.now() ? attempt : undefined;
    },
    end: (id) => attempts.delete(id),
    cancel(id) {
      const attempt = attempts.get(id);
      attempts.delete(id);
      if (attempt !== undefined) controllers.get(attempt)?.abort();
    },
  };
}
