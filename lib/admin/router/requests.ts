import type { Request, Response } from "express";
import type { Journal } from "../../core/door";
import { destroyResponse } from "../../kit/callbacks";
import { CONTENT_SECURITY_POLICY, FORBIDDEN_PAGE } from "../console/assets";
import { parseInput } from "../client/input-rules";
import { createAudit, type Audited, type AuditEntry } from "../http/audit";
import { readJson } from "../http/json-body";
import type { Route } from "../http/route";
import { toRouterError } from "../http/router-error";
import { createAdmission, FORBIDDEN, wasNotAdmitted } from "./admission";
import type { OptionCalls } from "./option-calls";
import type { AdminRouterOptions } from "./options";

const NOT_STORED = { "Cache-Control": "no-store" };
const OF_CONSOLE = {
  ...NOT_STORED,
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  /** By which the page tells our responses from those of the app and of proxies. */
  "Push-Console": "1",
};

/** What a router serves. */
interface Served {
  options: AdminRouterOptions;
  calls: OptionCalls;
  routes: readonly Route[];
  /** Undefined when there is no console. */
  consoleRoutes: readonly Route[] | undefined;
  /** Has what people change; undefined when there is no console. */
  journal: Journal | undefined;
}

/** Creates what admits the requests of a router, responds to them and audits those that write. */
export function createRequests({ options, calls, routes, consoleRoutes, journal }: Served) {
  const describeWrite = createAudit(routes);
  const isWrite = ({ method, path }: Request) => describeWrite(method, path) !== undefined;

  const admission = createAdmission(options, calls, isWrite);

  /** Throws a RouterError unless the request may be handled. */
  function admit(req: Request, res: Response): Promise<void> {
    if (!res.headersSent) res.set(consoleRoutes === undefined ? NOT_STORED : OF_CONSOLE);
    return admission.admit(req);
  }

  async function handle(route: Route, req: Request, res: Response): Promise<void> {
    const { input, output, path, status = 200 } = route;
    const audited: Audited = {};
    try {
      // Another site may link to the page of the console, and may load nothing else of it.
      const rejectsForeign = consoleRoutes?.includes(route) === true && path !== "/";
      if (rejectsForeign) admission.assertSameSite(req);
      const given = input && parseInput("body", input, await readJson(req, res));
      const found = await route.run(req, given, audited, res);
      const body = output === undefined ? found : output.parse(found);
      if (!res.headersSent) res.status(status).json(body);
      const { sid } = Object(body) as { sid?: string };
      await audit(req, res, { sid, ...audited });
    } catch (error) {
      await reject(req, res, error, audited);
    }
  }

  /** Responds with an error, and audits it. Never throws: Express 4 does not await a middleware. */
  async function reject(req: Request, res: Response, error: unknown, audited: Audited = {}) {
    const { code, message, status, retryAfterSeconds } = toRouterError(error);
    if (status >= 500) calls.log({ code, method: req.method, err: error }, message);
    try {
      // Another middleware, such as one with a time-out, may have responded before.
      if (!res.headersSent) {
        if (retryAfterSeconds !== undefined)
          res.setHeader("Retry-After", String(retryAfterSeconds));
        res.status(status);
        const isPage = consoleRoutes !== undefined && req.path === "/" && req.method === "GET";
        if (isPage && error === FORBIDDEN) res.type("html").send(FORBIDDEN_PAGE);
        else res.json({ code, message, status });
      }
    } catch (failure) {
      calls.log({ err: failure }, "A response failed: a middleware has replaced a method of it");
      destroyResponse(req, res);
    }
    await audit(req, res, { ...audited, code });
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
      actor: await calls.readActor(req),
      sid: write.sid ?? sid,
      status: res.statusCode,
      code,
      ...audited,
    };
    await calls.call("onAudit", () => options.onAudit?.(entry, req), entry);
    // One who may not write fills no history.
    if (wasNotAdmitted(code)) return;
    const { actor: by, ...change } = entry;
    journal?.append({ kind: "change", atMs: Date.now(), share: "", by, ...change });
  }

  return { admit, handle, reject };
}
