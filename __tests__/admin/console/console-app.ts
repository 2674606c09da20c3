/** An app with a receiver and the console that shows it, before the emulator of the service. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import {
  pushWebhooks,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminRouterOptions, AuditEntry } from "express-push-verification/admin";
import { signedRequest, type SignedRequest } from "express-push-verification/testing";
import { AUTH_TOKEN } from "../../support/webhook-requests";
import { clientOptions, startUpstream, stopUpstreams, type Upstream } from "../../support/upstream";

export const PATH = "/webhooks/push";
export const MOUNT = "/admin/push";

export interface ConsoleApp {
  upstream: Upstream;
  push: PushWebhooks;
  audits: AuditEntry[];
  port: number;
  /** The address of the console. */
  url: string;
  publicUrl: string;
  /** Sends an event to the receiver as the service does; returns the status. */
  deliver: (
    type?: Parameters<typeof signedRequest>[1],
    overrides?: Record<string, string>,
    change?: Partial<DeliveryChange>,
  ) => Promise<number>;
  post(request: SignedRequest): Promise<number>;
  /** Stops listening and ends all connections; `start` listens on the same port again. */
  stop(): Promise<void>;
  /** Stops listening, and waits for the connections to end by themselves. */
  close(): Promise<void>;
  start(): Promise<void>;
}

interface DeliveryChange {
  authToken: string;
  signedUrl: string;
  version: "v1" | "v2";
}

const apps: ConsoleApp[] = [];

/** Registers the consoles of a test file: each stops after its test, with its upstream. */
export function useConsoles(): void {
  afterEach(async () => {
    for (const app of apps.splice(0)) {
      await app.stop();
      // Pending waits would keep the process alive.
      await app.push.close();
    }
    await stopUpstreams();
  });
}

/** Starts an app whose publicUrl is its own. */
export async function startConsole({
  router = {},
  receiver = {},
  client = {},
  before = [],
  mount = MOUNT,
}: {
  router?: Partial<AdminRouterOptions>;
  receiver?: Partial<PushWebhooksOptions>;
  client?: Partial<Parameters<typeof createAdminClient>[0]>;
  before?: express.RequestHandler[];
  mount?: string;
} = {}): Promise<ConsoleApp> {
  const upstream = await startUpstream();
  const app = express();
  const audits: AuditEntry[] = [];
  let server: Server;

  const listen = (port: number) =>
    new Promise<number>((resolve) => {
      server = app.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  const port = await listen(0);
  const publicUrl = `http://127.0.0.1:${port}${PATH}`;
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl, ...receiver });
  push.onError(() => {});
  for (const middleware of before) app.use(middleware);
  app.use(PATH, push);
  app.use(
    mount,
    adminRouter({
      client: createAdminClient({ ...clientOptions(upstream.url), maxRetries: 0, ...client }),
      authorize: () => true,
      onAudit: (entry) => void audits.push(entry),
      actor: () => "alice",
      console: true,
      receiver: push,
      ...router,
    }),
  );

  async function post({ method, path, headers, body }: SignedRequest): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const started: ConsoleApp = {
    upstream,
    push,
    audits,
    port,
    url: `http://127.0.0.1:${port}${mount.endsWith("/") ? mount : `${mount}/`}`,
    publicUrl,
    deliver(type = "challenge.approved", overrides = {}, change = {}) {
      const { authToken = AUTH_TOKEN, signedUrl = publicUrl, version = "v2" } = change;
      const signed = signedRequest({ authToken, publicUrl: signedUrl }, type, overrides, {
        version,
      });
      return post({ ...signed, path: PATH });
    },
    post,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
    async start() {
      await listen(port);
    },
  };
  apps.push(started);
  return started;
}
