/** An app with a receiver and the console that shows it, before the emulator of the service. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import type { ActionLine } from "../../../lib/admin/console/action-lines";
import type { RequestFilter } from "../../../lib/admin/console/request-filter";
import type { RequestRow } from "../../../lib/admin/console/request-row";
import type { ConsoleView, ShownHistory } from "../../../lib/admin/console/shown-history";
import { send } from "../../support/servers";
import { AUTH_TOKEN, eventRequest } from "../../support/webhook-requests";
import { stopEmulators } from "../../support/emulators";
import { startUpstream } from "../../support/upstream";
import { makeStaffApp, type StaffAppOptions } from "../staff-app";

export const PATH = "/webhooks/push";
export const MOUNT = "/admin/push";

/** Texts of senders and of errors that a page must show as text. */
export const HOSTILE = [
  `<script>document.title = "owned"</script><img src=x onerror="document.title='owned'">`,
  `"'\`><svg/onload=alert(1)>{{7*7}}\${7*7}<!--`,
  "user\u202Egpj.exe\u202C and \u2066isolated\u2069",
  "x".repeat(1_024),
  "line one\nline two\u0000\u001b[31m",
];

export type ConsoleApp = Awaited<ReturnType<typeof startConsole>>;

export interface ConsoleOptions {
  router?: StaffAppOptions;
  receiver?: Partial<PushWebhooksOptions>;
  mount?: string;
}

type Sending = { authToken?: string; signedUrl?: string; version?: "v1" | "v2"; headers?: object };

const stops: (() => Promise<void>)[] = [];

/** Registers the consoles of a test file: each stops after its test, with its upstream. */
export function useConsoles(): void {
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await stopEmulators();
  });
}

export async function startConsole(options: ConsoleOptions = {}) {
  const { router, receiver, mount = MOUNT } = options;
  const upstream = await startUpstream();
  const app = express();
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const publicUrl = `http://127.0.0.1:${port}${PATH}`;
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl, ...receiver });
  push.onError(() => {});
  app.use(PATH, push);
  const makeApp = () => app;
  const shown = { console: true, receiver: push, actor: () => "alice" };
  const { audits, call } = makeStaffApp(upstream, { makeApp, mount, ...shown, ...router });
  const url = `http://127.0.0.1:${port}${mount}/`;
  const started = {
    upstream,
    push,
    audits,
    server,
    url,
    publicUrl,
    /** Sends an event to the receiver as the service does; returns the status. */
    async deliver(
      type: Parameters<typeof eventRequest>[0] = "challenge.approved",
      overrides: Record<string, string> = {},
      { authToken = AUTH_TOKEN, signedUrl = publicUrl, headers = {}, ...others }: Sending = {},
    ): Promise<number> {
      const settings = { authToken, publicUrl: signedUrl, ...others };
      const signed = eventRequest(type, overrides, settings);
      const all = { ...signed.headers, ...headers };
      const response = await send(port, { ...signed, headers: all, path: PATH });
      await response.arrayBuffer();
      return response.status;
    },
    /** Calls a route of the console: with a body a POST, else a GET. */
    async call(path: string, sent?: object) {
      const { status, body } = await call(`${sent ? "post" : "get"} /console${path}`, sent);
      return { status, body };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  stops.push(async () => {
    await started.stop();
    // Pending waits would keep the process alive.
    await push.close();
  });
  return started;
}

/** Stops the clock meanwhile: a pause of this process would count as work of an explanation, which is limited. */
export async function stopClock(run: () => Promise<unknown>): Promise<void> {
  const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
  await run();
  now.mockRestore();
}

function post(url: string, path: string, body: object): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  return fetch(`${url}console${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Polls as the page does. */
export async function readView(
  { url }: { url: string },
  filter: RequestFilter = {},
  position?: string,
  id?: string,
): Promise<ConsoleView> {
  const response = await post(url, "/view", { filter, position, id });
  return (await response.json()) as ConsoleView;
}

/** Returns all that the page shows of the requests that a filter selects. */
export async function readShown(
  app: { url: string },
  filter: RequestFilter = {},
): Promise<ShownHistory> {
  return (await readView(app, filter)).shown as ShownHistory;
}

/** Returns the rows that a filter selects, the oldest first. */
export async function readRows(
  app: { url: string },
  filter: RequestFilter = {},
): Promise<RequestRow[]> {
  return (await readShown(app, filter)).rows.toReversed();
}

/** Runs an action on many; returns its last line, or the error of the response. */
export async function act(app: { url: string }, path: string, choice: object): Promise<ActionLine> {
  const lines = (await (await post(app.url, path, choice)).text()).trim().split("\n");
  return JSON.parse(lines.at(-1) ?? "") as ActionLine;
}
