import express from "express";
import express4 from "express4";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminRouterOptions, AuditEntry } from "express-push-verification/admin";
import { clientOptions, type Upstream } from "../support/upstream";

export type App = ReturnType<typeof express>;

/** Both supported versions of Express. */
export const APPS: [name: string, makeApp: () => App][] = [
  ["Express 5", express],
  ["Express 4", express4 as unknown as () => App],
];

/** Returns an app with an admin router at `/admin`, and the audit entries of that router. */
export function makeStaffApp(
  upstream: Upstream,
  {
    makeApp = express,
    before = [],
    ...options
  }: Partial<AdminRouterOptions> & {
    makeApp?: () => App;
    before?: express.RequestHandler[];
  } = {},
): { app: App; audits: AuditEntry[] } {
  const audits: AuditEntry[] = [];
  const client = createAdminClient({ ...clientOptions(upstream.url), maxRetries: 0 });
  const app = makeApp();
  for (const middleware of before) app.use(middleware);
  const onAudit = (entry: AuditEntry) => void audits.push(entry);
  app.use("/admin", adminRouter({ client, authorize: () => true, onAudit, ...options }));
  return { app, audits };
}

/** Middlewares that let a form choose the method, as the package method-override does. */
export const METHOD_OVERRIDE: express.RequestHandler[] = [
  express.urlencoded({ extended: false }),
  (req, _res, next) => {
    const { _method: method } = (req.body ?? {}) as { _method?: string };
    if (req.method === "POST" && method !== undefined) req.method = method.toUpperCase();
    next();
  },
];
