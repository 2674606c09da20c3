import type { Request, Response } from "express";
import type { Journal } from "../../core/door";
import { destroyResponse } from "../../kit/callbacks";
import { CONTENT_SECURITY_POLICY, FORBIDDEN_PAGE } from "../console/assets";
import { parseInput } from "../client/schemas";
import { createAudit, type Audited, type AuditEntry } from "../http/audit";
import { readJson } from "../http/json-body";
import type { Route } from "../http/route";
import { RouterError, toRouterError } from "../http/router-error";
import { isAllowedHost, isCrossSite } from "./cross-site";
import type { OptionCalls } from "./option-calls";
import type { AdminRouterOptions } from "./options";

const FORBIDDEN = new RouterError(403, "FORBIDDEN", "You may not manage Keys and Webhooks.");
const CROSS_SITE = new RouterError(
  403,
  "CROSS_SITE",
  "Browsers may write only from a page of the same origin, or of one in allowedOrigins. Behind a proxy, keep the Host header or set Express's trust proxy.",
);
const HOST_NOT_ALLOWED = new RouterError(
  403,
  "HOST_NOT_ALLOWED",
  "This host may not be used. List it in allowedHosts; or behind a proxy on the same machine set Express's trust proxy.",
);

const NOT_ADMITTED: ReadonlySet<unknown> = new Set(
  [FORBIDDEN, CROSS_SITE, HOST_NOT_ALLOWED].map(({ code }) => code),
);

/** Admits the requests of a router, responds to them and audits those that write. */
export class Requests {
  readonly #options: AdminRouterOptions;
  readonly #calls: OptionCalls;
  /** Undefined when there is no console. */
  readonly #consoleRoutes: readonly Route[] | undefined;
  readonly #describeWrite: ReturnType<typeof createAudit>;
  readonly #allowedOrigins: ReadonlySet<string>;
  /** Has what people change; undefined when there is no console. */
  readonly #journal: Journal | undefined;

  constructor(
    options: AdminRouterOptions,
    calls: OptionCalls,
    routes: readonly Route[],
    consoleRoutes: readonly Route[] | undefined,
    journal: Journal | undefined,
  ) {
    this.#options = options;
    this.#calls = calls;
    this.#consoleRoutes = consoleRoutes;
    this.#describeWrite = createAudit(routes);
    this.#allowedOrigins = new Set(options.allowedOrigins);
    this.#journal = journal;
  }

  /** Throws a RouterError unless the request may be handled. */
  async admit(req: Request, res: Response): Promise<void> {
    const { allowedHosts, authorize } = this.#options;
    if (!res.headersSent) {
      res.setHeader("Cache-Control", "no-store");
      if (this.#consoleRoutes !== undefined) {
        res.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        res.setHeader("X-Content-Type-Options", "nosniff");
        res.setHeader("Referrer-Policy", "no-referrer");
      }
    }
    if (!isAllowedHost(req, allowedHosts)) throw HOST_NOT_ALLOWED;
    const isAllowed: unknown = await this.#calls.call("authorize", () => authorize(req));
    // Compare with true: a truthy value, such as a user object, may be a mistake.
    if (isAllowed !== true) throw FORBIDDEN;
    const isWrite = this.#describeWrite(req.method, req.path) !== undefined;
    if (isWrite && isCrossSite(req, this.#allowedOrigins)) throw CROSS_SITE;
  }

  /** Runs a route. */
  async handle(route: Route, req: Request, res: Response): Promise<void> {
    const { input, output, path, status = 200 } = route;
    const audited: Audited = {};
    try {
      // Another site may link to the page of the console, and may load nothing else of it.
      const rejectsForeign = this.#consoleRoutes?.includes(route) === true && path !== "/";
      if (rejectsForeign && isCrossSite(req, this.#allowedOrigins)) throw CROSS_SITE;
      const given = input && parseInput("body", input, await readJson(req, res));
      const found = await route.run(req, given, audited, res);
      const body = output === undefined ? found : output.parse(found);
      if (!res.headersSent) res.status(status).json(body);
      const { sid } = Object(body) as { sid?: string };
      await this.#audit(req, res, { sid, ...audited });
    } catch (error) {
      await this.reject(req, res, error, audited);
    }
  }

  /** Responds with an error, and audits it. Never throws: Express 4 does not await a middleware. */
  async reject(req: Request, res: Response, error: unknown, audited: Audited = {}): Promise<void> {
    const { code, message, status, retryAfterSeconds } = toRouterError(error);
    if (status >= 500) this.#calls.log({ code, method: req.method, err: error }, message);
    try {
      // Another middleware, such as one with a time-out, may have responded before.
      const isPage = this.#consoleRoutes !== undefined && error === FORBIDDEN && req.path === "/";
      if (isPage && req.method === "GET" && !res.headersSent) {
        res.status(status).type("html").send(FORBIDDEN_PAGE);
      } else if (!res.headersSent) {
        if (retryAfterSeconds !== undefined)
          res.setHeader("Retry-After", String(retryAfterSeconds));
        res.status(status).json({ code, message, status });
      }
    } catch (failure) {
      this.#calls.logFailedResponse(failure);
      destroyResponse(req, res);
    }
    await this.#audit(req, res, { ...audited, code });
  }

  async #audit(
    req: Request,
    res: Response,
    { code, sid, ...audited }: Audited & Partial<Pick<AuditEntry, "code" | "sid">>,
  ): Promise<void> {
    const write = this.#describeWrite(req.method, req.path);
    if (write === undefined) return;
    const entry = {
      action: write.action,
      actor: await this.#calls.readActor(req),
      sid: write.sid ?? sid,
      status: res.statusCode,
      code,
      ...audited,
    };
    await this.#calls.call("onAudit", () => this.#options.onAudit?.(entry, req), entry);
    // One who may not write fills no history.
    if (NOT_ADMITTED.has(code)) return;
    const { actor: by, ...change } = entry;
    this.#journal?.append({ kind: "change", atMs: Date.now(), share: "", by, ...change });
  }
}
