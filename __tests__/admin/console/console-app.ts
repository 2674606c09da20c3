/** An app with a receiver and the console that shows it, before the emulator of the service. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminRouterOptions, AuditEntry } from "express-push-verification/admin";
import type { LiveUpdate } from "../../../lib/admin/console/console-view";
import { signedRequest } from "express-push-verification/testing";
import { send } from "../../support/servers";
import { AUTH_TOKEN } from "../../support/webhook-requests";
import { clientOptions, startUpstream, stopUpstreams } from "../../support/upstream";

export const PATH = "/webhooks/push";
export const MOUNT = "/admin/push";

/** An app that {@link startConsole} started. */
export type ConsoleApp = Awaited<ReturnType<typeof startConsole>>;

/** How a request differs from one of the service. */
interface Change {
  authToken?: string;
  signedUrl?: string;
  version?: "v1" | "v2";
  headers?: Record<string, string>;
}

const stops: (() => Promise<void>)[] = [];

/** Registers the consoles of a test file: each stops after its test, with its upstream. */
export function useConsoles(): void {
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
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
} = {}) {
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

  const close = () => new Promise((resolve) => server.close(resolve));
  const url = `http://127.0.0.1:${port}${mount.endsWith("/") ? mount : `${mount}/`}`;
  const started = {
    upstream,
    push,
    audits,
    port,
    /** The address of the console. */
    url,
    publicUrl,
    /** Sends an event to the receiver as the service does; returns the status. */
    async deliver(
      type: Parameters<typeof signedRequest>[1] = "challenge.approved",
      overrides: Record<string, string> = {},
      { authToken = AUTH_TOKEN, signedUrl = publicUrl, version = "v2", headers = {} }: Change = {},
    ): Promise<number> {
      const settings = { authToken, publicUrl: signedUrl };
      const signed = signedRequest(settings, type, overrides, { version });
      const all = { ...signed.headers, ...headers };
      const response = await send(port, { ...signed, headers: all, path: PATH });
      await response.arrayBuffer();
      return response.status;
    },
    /** Calls a route of the console: with a body a POST, else a GET. */
    async call(path: string, body?: object) {
      const response = await fetch(`${url}console${path}`, {
        ...(body !== undefined && {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        }),
      });
      // Each test asserts the shape.
      // oxlint-disable-next-line typescript/no-explicit-any
      return { status: response.status, body: (await response.json()) as any };
    },
    /** Stops listening and ends all connections; `start` listens on the same port again. */
    async stop() {
      server.closeAllConnections();
      await close();
    },
    /** Stops listening, and waits for the connections to end by themselves. */
    close,
    start: () => listen(port),
  };
  stops.push(async () => {
    await started.stop();
    // Pending waits would keep the process alive.
    await push.close();
  });
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
