import type express from "express";
import type { ErrorRequestHandler, Request, RequestHandler, Response, Router } from "express";
import { checkOptions, hasMethods, oneOf, type OptionRules } from "../option-rules";
import { runSafely } from "../listener";
import type { Logger } from "../reports";
import type { AdminClient } from "./client";
import { createOpenApi } from "./openapi";
import { describeProblem, RouterError, type Problem } from "./problem";
import { ROUTES, runRoute, type AuditAction, type Route } from "./routes";

/** One write that somebody has made, or tried to make. */
export interface AuditEntry {
  action: AuditAction;
  /** Who, as the option `who` says. */
  who: string | undefined;
  /** The resource; undefined when none came of a create. */
  sid: string | undefined;
  /** The status that was answered. */
  status: number;
  /** The code of the problem, if there was one. */
  code: number | string | undefined;
}

/** How the router works. */
export interface AdminRouterOptions {
  client: AdminClient;
  /** Whether a request may pass; asked for each. What it throws is logged, and is a no. */
  authorize: (req: Request) => boolean | Promise<boolean>;
  /** Refuses every write with 405. @default false */
  readOnly?: boolean;
  /** Told of every write, done or refused. It gets no secret. */
  onAudit?: (entry: AuditEntry, req: Request) => unknown;
  /** Says who makes a request, for the audit. @default the address of the peer */
  who?: (req: Request) => string | undefined;
  /** Where failures are logged, shaped like pino or console. @default nowhere */
  logger?: Logger;
}

const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");

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
  who: { accepts: isFunction, expected: "a function" },
  logger: {
    accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
    expected: "an object with the methods debug, info, warn and error, such as pino() or console",
  },
};

/**
 * Makes an Express router over the Keys and Webhooks of the service, in JSON, for an app's own
 * staff pages: the credentials of the client never leave the server.
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
      // Only a plain yes is one: whoever returns an object by mistake lets nobody in.
      const answer: unknown = await authorize(req);
      return answer === true;
    } catch (error) {
      log({ err: error }, "authorize failed");
      return false;
    }
  }

  function findWho(req: Request): string | undefined {
    try {
      return options.who === undefined ? req.socket.remoteAddress : options.who(req);
    } catch (error) {
      log({ err: error }, "who failed");
      return undefined;
    }
  }

  async function audit(entry: AuditEntry, req: Request): Promise<void> {
    try {
      await options.onAudit?.(entry, req);
    } catch (error) {
      log({ err: error, ...entry }, "onAudit failed");
    }
  }

  function answerProblem(req: Request, res: Response, error: unknown): Problem {
    const problem = describeProblem(error);
    const { code, message, status, retryAfterSeconds } = problem;
    if (status >= 500) {
      log({ code, method: req.method, err: error }, message);
    }
    if (retryAfterSeconds !== undefined) res.setHeader("Retry-After", String(retryAfterSeconds));
    res.status(status).json({ code, message, status });
    return problem;
  }

  function handle(route: Route): RequestHandler {
    return async function adminRoute(req, res) {
      let sid: string | undefined =
        req.params.sid === undefined ? undefined : String(req.params.sid);
      let problem: Problem | undefined;
      try {
        const { status, body } = await runRoute(route, client, req, res);
        sid ??= (body as { sid?: string } | undefined)?.sid;
        if (body === undefined) res.status(status).end();
        else res.status(status).json(body);
      } catch (error) {
        problem = answerProblem(req, res, error);
      }
      if (route.action === undefined) return;
      const { action } = route;
      await audit(
        { action, who: findWho(req), sid, status: res.statusCode, code: problem?.code },
        req,
      );
    };
  }

  router.use(async function adminAuthorization(req, res, next) {
    res.setHeader("Cache-Control", "no-store");
    if (await isAuthorized(req)) next();
    else answerProblem(req, res, FORBIDDEN);
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
      res.setHeader("Allow", allow);
      const message = `Allowed here: ${allow}.`;
      answerProblem(req, res, new RouterError(405, "METHOD_NOT_ALLOWED", message));
    });
  }
  router.use((req, res) => {
    answerProblem(req, res, new RouterError(404, "NOT_FOUND", "There is no such route."));
  });
  // Express itself refuses a path whose percent-encoding is malformed.
  const refuseMalformed: ErrorRequestHandler = (error, req, res, next) => {
    if (!(error instanceof URIError)) return next(error);
    answerProblem(req, res, new RouterError(404, "NOT_FOUND", "There is no such route."));
  };
  router.use(refuseMalformed);
  return router;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
