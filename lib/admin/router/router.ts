import type express from "express";
import type { ErrorRequestHandler, Request, Response, Router } from "express";
import { destroyResponse } from "../../kit/callbacks";
import { validateOptions } from "../../kit/validate-options";
import { adaptConsole } from "../../kit/logger";
import { callSafely } from "../../kit/safe-call";
import { CONTENT_SECURITY_POLICY, FORBIDDEN_PAGE } from "../console/assets";
import { createConsole } from "../console/console";
import { parseInput } from "../client/schemas";
import { createAudit, type Audited, type AuditEntry } from "../http/audit";
import { readJson } from "../http/json-body";
import type { Route } from "../http/route";
import { RouterError, toRouterError } from "../http/router-error";
import { isAllowedHost, isCrossSite } from "./cross-site";
import { createOpenApi } from "./openapi";
import { resolveConsoleOptions, ROUTER_RULES, type AdminRouterOptions } from "./options";
import { listRoutes } from "./routes";

const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");
const CROSS_SITE = new RouterError(
  403,
  "CROSS_SITE",
  "Browsers may write only from a page of the same origin, or of one in allowedOrigins. Behind a proxy, keep the Host header or set Express's trust proxy.",
);
const NOT_FOUND = new RouterError(404, "NOT_FOUND", "There is no such route.");
const HOST_NOT_ALLOWED = new RouterError(
  403,
  "HOST_NOT_ALLOWED",
  "This host may not be used. List it in allowedHosts; or behind a proxy on the same machine set Express's trust proxy.",
);

/**
 * Creates an Express router that manages the Keys and Webhooks of the service in JSON, for the
 * staff pages of an app. The credentials of the client stay on the server.
 *
 * Routes: `/keys`, `/keys/:sid`, `/webhooks`, `/webhooks/:sid`; with a receiver `/rehearsal`, which
 * responds with a `RehearsalReport`; `/openapi.json`, a document that is `@experimental`: its form may
 * change in a minor version. Errors are `{ code, message, status }`.
 *
 * @throws TypeError for an unknown or invalid option, and without `authorize`.
 */
export function adminRouter(options: AdminRouterOptions): Router {
  validateOptions("adminRouter", options, ROUTER_RULES);
  const { client, authorize, receiver, queue, readOnly = false } = options;
  const logger = options.logger && adaptConsole(options.logger);
  const allowedOrigins = new Set(options.allowedOrigins);
  // Required here: a script that uses only the client does not need Express.
  const { Router } = require("express") as typeof express;
  const router = Router();
  const consoleOptions = resolveConsoleOptions(options);
  const { reveal: reveals = false } = consoleOptions ?? {};
  const consoleRoutes =
    consoleOptions === undefined
      ? []
      : createConsole({ client, receiver, queue, readOnly, reveals, readActor });
  const isServed = ({ action }: Route) => !readOnly || action === undefined;
  const documented = listRoutes(client, receiver);
  const routes: Route[] = [
    ...documented,
    {
      method: "get",
      path: "/openapi.json",
      run: () => createOpenApi(documented.filter(isServed)),
    },
    ...consoleRoutes,
  ];
  const describeWrite = createAudit(routes);

  function log(fields: object, message: string): void {
    if (logger !== undefined) callSafely(logger, () => logger.error(fields, message));
  }

  function logFailedResponse(error: unknown): void {
    log({ err: error }, "A response failed: a middleware has replaced a method of it");
  }

  async function readActor(req: Request): Promise<string | undefined> {
    return callOption("actor", () =>
      options.actor === undefined ? req.socket.remoteAddress : options.actor(req),
    );
  }

  /** Calls an option; logs its error and returns undefined. */
  async function callOption<Result>(name: string, call: () => Result, fields = {}) {
    try {
      return await call();
    } catch (error) {
      log({ err: error, ...fields }, `${name} failed`);
      return undefined;
    }
  }

  async function audit(
    req: Request,
    res: Response,
    { code, sid, ...audited }: Audited & Partial<Pick<AuditEntry, "code" | "sid">>,
  ): Promise<void> {
    const write = describeWrite(req.method, req.path);
    if (write === undefined) return;
    const entry = {
      action: write.action,
      actor: await readActor(req),
      sid: write.sid ?? sid,
      status: res.statusCode,
      code,
      ...audited,
    };
    await callOption("onAudit", () => options.onAudit?.(entry, req), entry);
  }

  /** Responds with an error, and audits it. Never throws: Express 4 does not await a middleware. */
  async function reject(
    req: Request,
    res: Response,
    error: unknown,
    audited: Audited = {},
  ): Promise<void> {
    const { code, message, status, retryAfterSeconds } = toRouterError(error);
    if (status >= 500) log({ code, method: req.method, err: error }, message);
    try {
      // Another middleware, such as one with a time-out, may have responded before.
      const isPage = consoleOptions !== undefined && error === FORBIDDEN && req.path === "/";
      if (isPage && req.method === "GET" && !res.headersSent) {
        res.status(status).type("html").send(FORBIDDEN_PAGE);
      } else if (!res.headersSent) {
        if (retryAfterSeconds !== undefined)
          res.setHeader("Retry-After", String(retryAfterSeconds));
        res.status(status).json({ code, message, status });
      }
    } catch (failure) {
      logFailedResponse(failure);
      destroyResponse(req, res);
    }
    // The page asks another process next, which audits what it does.
    if (code !== "ANOTHER_PROCESS") await audit(req, res, { ...audited, code });
  }

  /** Creates the handler of a route. */
  function handle(route: Route) {
    const { input, output, status = 200 } = route;
    // Another site may link to the page of the console, and may load nothing else of it.
    const rejectsForeign = consoleRoutes.includes(route) && route.path !== "/";
    return async function adminRoute(req: Request, res: Response): Promise<void> {
      const audited: Audited = {};
      try {
        if (rejectsForeign && isCrossSite(req, allowedOrigins)) throw CROSS_SITE;
        const given = input && parseInput("body", input, await readJson(req, res));
        const found = await route.run(req, given, audited, res);
        const body = output === undefined ? found : output.parse(found);
        if (!res.headersSent) res.status(status).json(body);
        const { sid } = Object(body) as { sid?: string };
        await audit(req, res, { sid, ...audited });
      } catch (error) {
        await reject(req, res, error, audited);
      }
    };
  }

  /** Throws a RouterError unless the request may be handled. */
  async function admit(req: Request, res: Response): Promise<void> {
    if (!res.headersSent) {
      res.setHeader("Cache-Control", "no-store");
      if (consoleOptions !== undefined) {
        res.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        res.setHeader("X-Content-Type-Options", "nosniff");
        res.setHeader("Referrer-Policy", "no-referrer");
      }
    }
    if (!isAllowedHost(req, options.allowedHosts)) throw HOST_NOT_ALLOWED;
    const isAllowed: unknown = await callOption("authorize", () => authorize(req));
    // Compare with true: a truthy value, such as a user object, may be a mistake.
    if (isAllowed !== true) throw FORBIDDEN;
    const isWrite = describeWrite(req.method, req.path) !== undefined;
    if (isWrite && isCrossSite(req, allowedOrigins)) throw CROSS_SITE;
  }

  router.use(async function adminAuthorization(req, res, next) {
    try {
      await admit(req, res);
    } catch (error) {
      return reject(req, res, error);
    }
    next();
  });
  const served = routes.filter(isServed);
  for (const route of served) router[route.method](route.path, handle(route));
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = served.filter((route) => route.path === path).map(({ method }) => method);
    const allow = methods.join(", ").toUpperCase();
    router.all(path, (req, res) => {
      if (!res.headersSent) res.setHeader("Allow", allow);
      const message = `Allowed methods: ${allow === "" ? "none" : allow}.`;
      return reject(req, res, new RouterError(405, "METHOD_NOT_ALLOWED", message));
    });
  }
  router.use((req, res) => reject(req, res, NOT_FOUND));
  // Express itself rejects a path whose percent-encoding is malformed.
  const rejectMalformed: ErrorRequestHandler = (error, req, res, next) => {
    if (!(error instanceof URIError)) return next(error);
    return reject(req, res, NOT_FOUND);
  };
  router.use(rejectMalformed);
  return router;
}
