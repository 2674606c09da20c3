import express from "express";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminRouterOptions, AuditEntry } from "express-push-verification/admin";
import { clientOptions } from "../support/upstream";

export type App = express.Express;
export { APPS } from "../support/servers";

export interface StaffAppOptions extends Partial<AdminRouterOptions> {
  makeApp?: () => App;
  before?: express.RequestHandler[];
  mount?: string;
  as?: Parameters<typeof clientOptions>[1];
  timeoutMs?: number;
}

/** Returns an app with an admin router at its mount, and the audit entries of that router. */
export function makeStaffApp(
  { url }: { url: string },
  {
    makeApp = express,
    before = [],
    mount = "/admin",
    as,
    timeoutMs = 2_000,
    ...options
  }: StaffAppOptions = {},
): { app: App; audits: AuditEntry[] } {
  const audits: AuditEntry[] = [];
  const client = createAdminClient({ ...clientOptions(url, as), timeoutMs, maxRetries: 0 });
  const app = makeApp();
  for (const middleware of before) app.use(middleware);
  const onAudit = (entry: AuditEntry) => void audits.push(entry);
  app.use(mount, adminRouter({ client, authorize: () => true, onAudit, ...options }));
  return { app, audits };
}
