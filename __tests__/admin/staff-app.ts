import express from "express";
import supertest from "supertest";
import {
  adminRouter,
  type AdminRouterOptions,
  type AuditEntry,
} from "express-push-verification/admin";
import { clientAt, CREDENTIALS } from "../support/upstream";

export { APPS } from "../support/servers";

export interface StaffAppOptions extends Partial<AdminRouterOptions> {
  makeApp?: () => express.Express;
  before?: express.RequestHandler[];
  mount?: string;
  as?: keyof typeof CREDENTIALS;
  timeoutMs?: number;
  trusts?: unknown;
}

/** Makes an app with an admin router at its mount; returns also the audit entries of that router. */
export function makeStaffApp({ url }: { url: string }, given: StaffAppOptions = {}) {
  const { makeApp = express, before = [], mount = "/admin", trusts = false, ...others } = given;
  const { as = "account", timeoutMs = 60_000, ...options } = others;
  const audits: AuditEntry[] = [];
  const client = clientAt(url, { ...CREDENTIALS[as], timeoutMs, maxRetries: 0 });
  const app = makeApp().set("trust proxy", trusts);
  for (const middleware of before) app.use(middleware);
  const onAudit = (entry: AuditEntry) => void audits.push(entry);
  app.use(mount, adminRouter({ client, authorize: () => true, onAudit, ...options }));
  const at = mount.replace(":tenant", "blue").replace(/\/$/, "");

  /** Sends a request, such as `post /keys`, to the router. */
  function call(line: string, body?: unknown, headers: Record<string, string> = {}) {
    const [method = "", path = ""] = line.split(" ");
    const agent = supertest(app);
    const sent = agent[method as "get"](at + path).set(headers);
    return body === undefined ? sent : sent.send(body as object);
  }
  return { app, audits, call };
}
