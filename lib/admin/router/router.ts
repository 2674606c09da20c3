import type express from "express";
import type { ErrorRequestHandler, Router } from "express";
import { validateOptions } from "../../kit/validate-options";
import { createConsole } from "../console/console";
import { openJournal } from "../console/journal-view";
import type { Route } from "../http/route";
import { RouterError } from "../http/router-error";
import { createOpenApi } from "./openapi";
import { createOptionCalls } from "./option-calls";
import { resolveConsoleOptions, ROUTER_RULES, type AdminRouterOptions } from "./options";
import { createRequests } from "./requests";
import { listRoutes } from "./routes";

const NOT_FOUND = new RouterError(404, "NOT_FOUND", "There is no such route.");

/**
 * Creates an Express router that manages the Keys and Webhooks of the service in JSON, for the
 * staff pages of an app. The credentials of the client stay on the server.
 *
 * Routes: `/keys`, `/keys/:sid`, `/webhooks`, `/webhooks/:sid`; with a receiver `/rehearsal`, which
 * responds with a `RehearsalReport`; with a queue `/user-data/count` and `/user-data/erase`; `/openapi.json`, whose form may change in a minor version. Errors
 * are `{ code, message, status }`.
 *
 * @throws TypeError for an unknown or invalid option, and without `authorize`.
 */
export function adminRouter(options: AdminRouterOptions): Router {
  validateOptions("adminRouter", options, ROUTER_RULES);
  const { client, receiver, queue, readOnly = false } = options;
  const calls = createOptionCalls(options);
  const consoleOptions = resolveConsoleOptions(options);
  const journal = consoleOptions && openJournal(receiver, queue);
  const { reveal: reveals = false } = consoleOptions ?? {};
  const { readActor } = calls;
  const parts = { client, receiver, queue, readOnly, reveals, readActor };
  const consoleRoutes = journal && createConsole({ ...parts, journal });
  const isServed = ({ action }: Route) => !readOnly || action === undefined;
  const documented = listRoutes(client, receiver, queue);
  const run = () => createOpenApi(documented.filter(isServed));
  const openApi: Route = { method: "get", path: "/openapi.json", run };
  const routes = [...documented, openApi, ...(consoleRoutes ?? [])];
  const requests = createRequests({ options, calls, routes, consoleRoutes, journal });
  return mount(requests, routes, routes.filter(isServed));
}

function mount(
  { admit, handle, reject }: ReturnType<typeof createRequests>,
  routes: readonly Route[],
  served: readonly Route[],
): Router {
  // Required here: a script that uses only the client does not need Express.
  const { Router } = require("express") as typeof express;
  const router = Router();
  router.use(async function adminAuthorization(req, res, next) {
    try {
      await admit(req, res);
    } catch (error) {
      return reject(req, res, error);
    }
    next();
  });
  for (const route of served) {
    router[route.method](route.path, function adminRoute(req, res) {
      return handle(route, req, res);
    });
  }
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
  const rejectMalformed: ErrorRequestHandler = (error, req, res, next) =>
    error instanceof URIError ? reject(req, res, NOT_FOUND) : next(error);
  router.use(rejectMalformed);
  return router;
}
