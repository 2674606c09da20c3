import type express from "express";
import type { ErrorRequestHandler, Request, RequestHandler, Response, Router } from "express";
import { checkOptions, hasMethods, oneOf, type OptionRules } from "../option-rules";
import { runSafely } from "../listener";
import { describeWrite, type AuditEntry } from "./audit";
import type { AdminClient } from "./client";
import { isCrossSite } from "./cross-site";
import { createOpenApi } from "./openapi";
import { CROSS_SITE, describeProblem, FORBIDDEN, RouterError } from "./problem";
import { ROUTES, runRoute, type Route } from "./routes";

/** Where the router logs its failures; pino and console have this shape. */
export interface AdminLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How the router works. */
export interface AdminRouterOptions {
  client: AdminClient;
  /** Whether a request may pass; asked for each. What it throws is logged, and is a no. */
  authorize: (req: Request) => boolean | Promise<boolean>;
  /** Rejects every write with 405. @default false */
  readOnly?: boolean | undefined;
  /**
   * Receives one entry for each request that writes (each method but GET, HEAD and OPTIONS), done
   * or rejected, also by `authorize`. It holds no secret.
   */
  onAudit?: ((entry: AuditEntry, req: Request) => unknown) | undefined;
  /** Returns the name of the person or program that sent a request. @default the peer's address */
  actor?: ((req: Request) => string | undefined) | undefined;
  /** Where failures are logged. @default nowhere */
  logger?: AdminLogger | undefined;
}

const RULES: OptionRules<AdminRouterOptions> = {
  client: {
    accepts: (value) =>
      hasMethods((value as Partial<AdminClient> | null)?.keys, ["list", "create"]),
    expected: "what createAdminClient() returns",
    required: true,
    secret: true,
  },
  authorize: {
    accepts: isFunction,
    expected:
      "a function that says whether a request may manage Keys and Webhooks, such as (req) => req.user?.isAdmin === true",
    required: true,
  },
  readOnly: oneOf(true, false),
  onAudit: { accepts: isFunction, expected: "a function" },
  actor: { accepts: isFunction, expected: "a function" },
  logger: {
    accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
    expected: "an object with the methods debug, info, warn and error, such as pino() or console",
  },
};

/**
 * Makes an Express router over the Keys and Webhooks of the service, in JSON, for an app's own
 * staff pages: the credentials of the client never leave the server.
 *
 * The document at `/openapi.json` is `@experimental`: its form may change in a minor version.
 *
 * Routes: `/keys`, `/keys/:sid`, `/webhooks`, `/webhooks/:sid`, `/openapi.json`. Errors are
 * `{ code, message, status }`.
 *
 * @throws TypeError for an option that is unknown or impossible; without `authorize` above all.
 */
export function adminRouter(options: AdminRouterOptions): Router {
  checkOptions("adminRouter", options, RULES);
  const { client, authorize, readOnly = false, logger } = options;
  // Here, so that a script which needs the client alone does not need Express.
  const { Router } = require("express") as typeof express;
  const router = Router();

  function log(fields: object, message: string): void {
    void runSafely(() => logger?.error(fields, message));
  }

  async function isAuthorized(req: Request): Promise<boolean> {
    try {
      // Only `true` allows: an object that is returned by mistake does not.
      const answer: unknown = await authorize(req);
      return answer === true;
    } catch (error) {
      log({ err: error }, "authorize failed");
      return false;
    }
  }

  function findActor(req: Request): string | undefined {
    try {
      return options.actor === undefined ? req.socket.remoteAddress : options.actor(req);
    } catch (error) {
      log({ err: error }, "actor failed");
      return undefined;
    }
  }

  async function audit(
    req: Request,
    res: Response,
    { code, sid }: Partial<Pick<AuditEntry, "code" | "sid">> = {},
  ): Promise<void> {
    const write = describeWrite(req.method, req.path);
    if (write === undefined) return;
    const entry = {
      action: write.action,
      actor: findActor(req),
      sid: write.sid ?? sid,
      status: res.statusCode,
      code,
    };
    try {
      await options.onAudit?.(entry, req);
    } catch (error) {
      log({ err: error, ...entry }, "onAudit failed");
    }
  }

  async function reject(req: Request, res: Response, error: unknown): Promise<void> {
    const { code, message, status, retryAfterSeconds } = describeProblem(error);
    if (status >= 500) log({ code, method: req.method, err: error }, message);
    // Another middleware may have responded meanwhile, one with a timeout for example.
    if (!res.headersSent) {
      if (retryAfterSeconds !== undefined) res.setHeader("Retry-After", String(retryAfterSeconds));
      res.status(status).json({ code, message, status });
    }
    await audit(req, res, { code });
  }

  function handle(route: Route): RequestHandler {
    return async function adminRoute(req, res) {
      try {
        const { status, body } = await runRoute(route, client, req, res);
        if (!res.headersSent) {
          if (body === undefined) res.status(status).end();
          else res.status(status).json(body);
        }
        await audit(req, res, { sid: (body as { sid?: string } | undefined)?.sid });
      } catch (error) {
        await reject(req, res, error);
      }
    };
  }

  router.use(async function adminAuthorization(req, res, next) {
    if (!res.headersSent) res.setHeader("Cache-Control", "no-store");
    const isAllowed = await isAuthorized(req);
    if (!isAllowed) return reject(req, res, FORBIDDEN);
    const isWrite = describeWrite(req.method, req.path) !== undefined;
    if (isWrite && isCrossSite(req)) return reject(req, res, CROSS_SITE);
    next();
  });
  router.get("/openapi.json", (req, res) => {
    res.json(createOpenApi(req.baseUrl, readOnly));
  });
  const routes = ROUTES.filter(({ action }) => !readOnly || action === undefined);
  for (const route of routes) router[route.method](route.path, handle(route));
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map(({ method }) => method);
    const allow = methods.map((method) => method.toUpperCase()).join(", ");
    router.all(path, (req, res) => {
      if (!res.headersSent) res.setHeader("Allow", allow);
      const message = `Allowed here: ${allow}.`;
      return reject(req, res, new RouterError(405, "METHOD_NOT_ALLOWED", message));
    });
  }
  const NOT_FOUND = new RouterError(404, "NOT_FOUND", "There is no such route.");
  router.use((req, res) => reject(req, res, NOT_FOUND));
  // Express itself rejects a path whose percent-encoding is malformed.
  const rejectMalformed: ErrorRequestHandler = (error, req, res, next) => {
    if (!(error instanceof URIError)) return next(error);
    return reject(req, res, NOT_FOUND);
  };
  router.use(rejectMalformed);
  return router;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
