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
import type { LiveUpdate } from "../../../lib/admin/console/console-view";
import { signedRequest } from "express-push-verification/testing";
import { send } from "../../support/servers";
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
  /** Calls a route of the console: with a body a POST, else a GET. */
  // Each test asserts the shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  call(path: string, body?: object): Promise<{ status: number; body: any }>;
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
  headers: Record<string, string>;
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

  const started: ConsoleApp = {
    upstream,
    push,
    audits,
    port,
    url: `http://127.0.0.1:${port}${mount.endsWith("/") ? mount : `${mount}/`}`,
    publicUrl,
    async deliver(type = "challenge.approved", overrides = {}, change = {}) {
      const {
        authToken = AUTH_TOKEN,
        signedUrl = publicUrl,
        version = "v2",
        headers = {},
      } = change;
      const settings = { authToken, publicUrl: signedUrl };
      const signed = signedRequest(settings, type, overrides, { version });
      const all = { ...signed.headers, ...headers };
      const response = await send(port, { ...signed, headers: all, path: PATH });
      await response.arrayBuffer();
      return response.status;
    },
    async call(path, body) {
      const response = await fetch(`${started.url}console${path}`, {
        ...(body !== undefined && {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        }),
      });
      return { status: response.status, body: await response.json() };
    },
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

/** Opens the stream of a console; `next` resolves to its next update, undefined at its end. */
export async function openLive({ url }: ConsoleApp, after = "") {
  const response = await fetch(`${url}console/live?after=${after}`);
  const updates = readUpdates(response);
  const next = async () => (await updates.next()).value as LiveUpdate;
  return { response, next, close: () => updates.return(undefined) };
}

async function* readUpdates({ body }: Response): AsyncGenerator<LiveUpdate, undefined> {
  let received = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    const parts = (received + chunk).split("\n\n");
    received = parts.pop() ?? "";
    for (const part of parts) yield JSON.parse(part.replace(/^data: /, "")) as LiveUpdate;
  }
}

/** Returns the id of the request with a number, from 1. */
export async function idOf(app: ConsoleApp, number: number | string): Promise<string> {
  const { process } = await readRequests(app);
  return `${process.id}-${number}`;
}

/** Returns all rows and totals, as a page that opens receives them. */
export async function readRequests(app: ConsoleApp): Promise<LiveUpdate> {
  const { next, close } = await openLive(app);
  const update = await next();
  await close();
  return update;
}
