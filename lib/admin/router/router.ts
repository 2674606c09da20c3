import type express from "express";
import type { ErrorRequestHandler, Router } from "express";
import { validateOptions } from "../../kit/validate-options";
import { createConsole } from "../console/console";
import { openJournal } from "../console/journal-view";
import type { Route } from "../http/route";
import { RouterError } from "../http/router-error";
import { createOpenApi } from "./openapi";
import { OptionCalls } from "./option-calls";
import { resolveConsoleOptions, ROUTER_RULES, type AdminRouterOptions } from "./options";
import { Requests } from "./requests";
import { listRoutes } from "./routes";

const NOT_FOUND = new RouterError(404, "NOT_FOUND", "There is no such route.");
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
  const { client, receiver, queue, readOnly = false } = options;
  const calls = new OptionCalls(options);
  const consoleOptions = resolveConsoleOptions(options);
  const { reveal: reveals = false } = consoleOptions ?? {};
  const journal = consoleOptions && openJournal(receiver, queue);
  const consoleRoutes =
    journal &&
    createConsole({
      client,
      receiver,
      queue,
      journal,
      readOnly,
      reveals,
      readActor: (req) => calls.readActor(req),
    });
  const isServed = ({ action }: Route) => !readOnly || action === undefined;
  const documented = listRoutes(client, receiver);
  const routes: Route[] = [
    ...documented,
    {
      method: "get",
      path: "/openapi.json",
      run: () => createOpenApi(documented.filter(isServed)),
    },
    ...(consoleRoutes ?? []),
  ];
  return mount(new Requests(options, calls, routes, consoleRoutes, journal), routes, isServed);
}

function mount(
  requests: Requests,
  routes: readonly Route[],
  isServed: (route: Route) => boolean,
): Router {
  // Required here: a script that uses only the client does not need Express.
  const { Router } = require("express") as typeof express;
  const router = Router();
  router.use(async function adminAuthorization(req, res, next) {
    try {
      await requests.admit(req, res);
    } catch (error) {
      return requests.reject(req, res, error);
    }
    next();
  });
  const served = routes.filter(isServed);
  for (const route of served) {
    router[route.method](route.path, function adminRoute(req, res) {
      return requests.handle(route, req, res);
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = served.filter((route) => route.path === path).map(({ method }) => method);
    const allow = methods.join(", ").toUpperCase();
    router.all(path, (req, res) => {
      if (!res.headersSent) res.setHeader("Allow", allow);
      const message = `Allowed methods: ${allow === "" ? "none" : allow}.`;
      return requests.reject(req, res, new RouterError(405, "METHOD_NOT_ALLOWED", message));
    });
  }
  router.use((req, res) => requests.reject(req, res, NOT_FOUND));
  // Express itself rejects a path whose percent-encoding is malformed.
  const rejectMalformed: ErrorRequestHandler = (error, req, res, next) => {
    if (!(error instanceof URIError)) return next(error);
    return requests.reject(req, res, NOT_FOUND);
  };
  router.use(rejectMalformed);
  return router;
}
