import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import session from "express-session";
import { adminRouter, type AdminClient } from "express-push-verification/admin";
import { createLogin, type LoginOptions } from "./login";
import type { SimulatedPhone } from "./simulated-phone";

declare module "express-session" {
  interface SessionData {
    /** Whether this browser may use the admin router. */
    isStaff: boolean;
  }
}

/** The parts of the app beside its login. */
export interface AppOptions extends LoginOptions {
  /** Signs the session cookie. */
  sessionSecret: string;
  /** Whether the app is served over HTTPS: the cookie is then sent over HTTPS only. */
  isHttps: boolean;
  /** The phone to show beside the login; none with the real service. */
  phone: SimulatedPhone | undefined;
  /** Administers Keys and Webhooks; `key` opens it. A real app has its own login for staff. */
  staff: { client: AdminClient; key: string };
}

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const setHeaders: RequestHandler = (_req, res, next) => {
  res.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  res.set("X-Content-Type-Options", "nosniff");
  next();
};

const respondToError: ErrorRequestHandler = (error: { status?: number }, _req, res, next) => {
  const status = error.status ?? 500;
  // 503: the server closes while a page waits.
  if (status >= 500 && status !== 503) console.error(error);
  if (res.headersSent) next(error);
  else res.sendStatus(status);
};

/** Creates the app: the receiver, the sessions, the login with its page, and the admin router. */
export function createApp(options: AppOptions): Express {
  const { push, sessionSecret, isHttps, phone, staff } = options;
  const app = express();
  app.disable("x-powered-by");
  if (isHttps) app.set("trust proxy", 1);
  // Before the sessions and every body parser: the receiver reads the exact bytes of the body.
  app.use("/webhooks/push", push);
  app.use(
    session({
      name: "session",
      secret: sessionSecret,
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: "lax", secure: isHttps },
    }),
  );
  app.get("/staff", (req, res) => {
    req.session.isStaff = isSame(req.query.key, staff.key);
    if (req.session.isStaff) res.redirect("/admin/push/");
    else res.sendStatus(403);
  });
  app.use(
    "/admin/push",
    adminRouter({
      client: staff.client,
      authorize: (req) => req.session.isStaff === true,
      console: true,
      receiver: push,
    }),
  );
  app.use(setHeaders);
  if (phone !== undefined) app.use("/phone", phone.router);
  app.use(createLogin(options));
  app.use(express.static(join(__dirname, "public")));
  app.use(respondToError);
  return app;
}

function isSame(given: unknown, expected: string): boolean {
  if (typeof given !== "string" || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
