import express, { type Request, type Response, type Router } from "express";
import { WebhookError, type PushWebhooks } from "express-push-verification";
import type { LoginAttempt, LoginAttempts } from "./login-attempts";
import type { CheckPassword } from "./passwords";
import type { RegisteredPhone, VerificationService } from "./verification-service";

declare module "express-session" {
  interface SessionData {
    /** The signed-in user. */
    user: string;
    /** The id of the login attempt of this browser. */
    attempt: string;
    /** The challenge and the identity of its last attempt, for the link to the console. */
    sought: string;
  }
}

/** Options of the login. */
export interface LoginOptions {
  push: PushWebhooks;
  service: VerificationService;
  /** The account whose outcomes count. */
  accountSid: string;
  attempts: LoginAttempts;
  checkPassword: CheckPassword;
  /** How long a request waits for an outcome; a quarter more than it is less than the 30 s after
   * which gateways cut a request. */
  waitMs: number;
}

/** A login that is rejected, for the error handler of the app. */
class LoginError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Creates the routes of the login. The page sends the password, then waits for the outcome, which
 * arrives as a webhook request while the page waits.
 *
 * | Route | Response |
 * |---|---|
 * | `GET /login` | 200, the state of this browser |
 * | `POST /login` | 201 and the attempt; 401 for a wrong password; 409 without a phone; 429 with 5 open logins |
 * | `POST /login/outcome` | 200 `signed-in`, `denied`, `expired`, `unknown` or `ended`, as soon as it is known; 202 `waiting` after `waitMs`: send it again |
 * | `POST /login/cancel` | 204 |
 * | `POST /logout` | 204 |
 */
export function createLogin(options: LoginOptions): Router {
  const { push, service, accountSid, attempts, checkPassword, waitMs } = options;
  const router = express.Router();
  // A page of another site cannot send JSON here without a CORS preflight request, which fails.
  router.use(express.json({ limit: "4kb" }));

  router.get("/login", (req, res) => {
    const attempt = attempts.find(req.session.attempt);
    const { user } = req.session;
    const link = linkToConsole(req);
    if (user !== undefined) res.json({ state: "signed-in", user, ...link });
    else if (attempt === undefined) res.json({ state: "signed-out", ...link });
    else res.json({ ...describe(attempt), ...link });
  });

  router.post("/login", async (req, res) => {
    const { user, password } = (req.body ?? {}) as Record<string, unknown>;
    if (typeof user !== "string" || typeof password !== "string") {
      throw new LoginError(400, "user and password must be strings.");
    }
    const entityIdentity = await checkPassword(user, password);
    if (entityIdentity === undefined) throw new LoginError(401, "Wrong password.");
    const phone = await service.findPhone(entityIdentity);
    if (phone === undefined) throw new LoginError(409, "The user has no verified phone.");

    endAttempt(req);
    const device = describeDevice(req.get("user-agent") ?? "");
    const attempt = attempts.begin({ user, entityIdentity, device });
    if (attempt === undefined) throw new LoginError(429, "The user has too many open logins.");
    await askUser(attempt, phone, req.ip);
    req.session.attempt = attempt.id;
    req.session.sought = `${attempt.challengeSid} ${entityIdentity}`;
    res.status(201).json({ ...describe(attempt), ...linkToConsole(req) });
  });

  router.post("/login/outcome", async (req, res) => {
    // The session says which attempt this is. The request names neither user nor challenge: an
    // attacker could name an approval that was given for something else.
    const attempt = attempts.find(req.session.attempt);
    let state = attempt === undefined ? "ended" : await awaitOutcome(attempt, res);
    if (state === "signed-in" && attempt !== undefined) {
      if (!(await startSession(req, attempt.user))) state = "ended";
    }
    // 202: not decided yet. No proxy responds with it.
    if (state === "waiting") res.status(202);
    if (state !== undefined) res.json({ state, user: req.session.user, ...linkToConsole(req) });
  });

  router.post("/login/cancel", (req, res) => {
    endAttempt(req);
    res.sendStatus(204);
  });

  router.post("/logout", async (req, res) => {
    await new Promise((resolve) => req.session.destroy(resolve));
    res.sendStatus(204);
  });

  async function askUser(
    attempt: LoginAttempt,
    phone: RegisteredPhone,
    address = "unknown",
  ): Promise<void> {
    const { id, entityIdentity, device, number, expiresAtMs } = attempt;
    attempt.phoneName = phone.friendly_name;
    try {
      attempt.challengeSid = await service.createChallenge(entityIdentity, phone, {
        message: "Sign in to Example Bank?",
        fields: [
          { label: "Device", value: device },
          { label: "Address", value: address },
        ],
        // The phone shows this number among others, and approves when the user chooses it.
        hidden_details: { attempt: id, number: String(number) },
        expiresAtMs,
      });
    } catch (error) {
      attempts.end(id);
      throw error;
    }
  }

  /** Resolves to the new state of the browser; to undefined when the browser has disconnected. */
  async function awaitOutcome(attempt: LoginAttempt, res: Response) {
    const { entityIdentity, challengeSid, expiresAtMs, cancelled } = attempt;
    const leftMs = expiresAtMs - Date.now();
    // No last wait is so short that the attempt expires before the browser sends it.
    const isLast = leftMs < 1.25 * waitMs;
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    res.on("close", stop);
    cancelled.addEventListener("abort", stop);
    try {
      // It asks the service, too: a webhook request may be lost.
      const { type } = await push.waitForChallenge({
        challengeSid,
        entityIdentity,
        accountSid,
        timeoutMs: isLast ? Math.max(leftMs, 1) : waitMs,
        signal: stopped.signal,
      });
      return endWith(attempt, type === "challenge.approved" ? "signed-in" : "denied");
    } catch (error) {
      if (stopped.signal.aborted) return cancelled.aborted ? "ended" : undefined;
      if (!(error instanceof WebhookError) || error.code === "CLOSING") throw error;
      if (error.code !== "CHALLENGE_TIMEOUT") return endWith(attempt, "denied");
      if (!isLast) return "waiting";
      // With a cause, the service could not be asked.
      return endWith(attempt, error.cause === undefined ? "expired" : "unknown");
    } finally {
      cancelled.removeEventListener("abort", stop);
    }
  }

  /** Each attempt is used once: of two tabs that wait for one outcome, one is signed in by it. */
  function endWith<State extends string>({ id }: LoginAttempt, state: State): State | "ended" {
    return attempts.end(id) ? state : "ended";
  }

  function endAttempt(req: Request): void {
    if (req.session.attempt !== undefined) attempts.cancel(req.session.attempt);
    delete req.session.attempt;
  }

  return router;
}

/**
 * Signs a user in under a new session id: the old one existed before the user was known. Returns false
 * when another tab has ended the session.
 */
async function startSession(req: Request, user: string): Promise<boolean> {
  // Another tab may have changed it during the wait: staff who opened the console there stay in it.
  const isThere = await new Promise((resolve) => {
    req.session.reload((error: unknown) => resolve(!(error instanceof Error)));
  });
  if (isThere !== true) return false;
  const { isStaff, sought } = req.session;
  await new Promise<void>((resolve, reject) => {
    req.session.regenerate((error: unknown) =>
      error instanceof Error ? reject(error) : resolve(),
    );
  });
  Object.assign(req.session, { user, isStaff, sought });
  return true;
}

/** Staff see where the console shows this login. */
function linkToConsole({ session: { isStaff, sought } }: Request) {
  if (isStaff !== true || sought === undefined) return {};
  return { consoleUrl: `admin/push/#/requests?q=${encodeURIComponent(sought)}` };
}

/** Describes an attempt to the page; the ids of the attempt and the challenge stay on the server. */
function describe({ phoneName, device, number, expiresAtMs }: LoginAttempt) {
  return { state: "waiting", phoneName, device, number, leftMs: expiresAtMs - Date.now() };
}

function describeDevice(userAgent: string): string {
  const browser = /Firefox|Edg|Chrome|Safari/.exec(userAgent)?.[0] ?? "A browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(userAgent)?.[0];
  const name = browser === "Edg" ? "Edge" : browser;
  return system === undefined ? name : `${name} on ${system}`;
}
