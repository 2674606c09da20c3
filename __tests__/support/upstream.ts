import type { NewWebhook } from "../../lib/emulator/options";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { WebhookResource } from "express-push-verification/emulator";
import type { WebhookInput } from "express-push-verification/admin";
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID } from "./webhook-requests";
import { callApi, startEmulator, stopEmulators, webhooksPath } from "./emulators";
import { startServer } from "./servers";

/** A response that a test chooses instead of the right one. */
export interface Scripted {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Never responds. */
  hangs?: boolean;
  /** Closes the connection instead. */
  drops?: boolean;
}

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  form: [string, string][];
  contentType: string | undefined;
}

export const STANDARD_KEY = `SK${"1".repeat(32)}`;
export const MAIN_KEY = `SK${"2".repeat(32)}`;
export const STANDARD_SECRET = "hush-standard-secret";
export const MAIN_SECRET = "hush-main-secret";

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Everything that must never be seen outside. */
export const SECRETS = [
  AUTH_TOKEN,
  STANDARD_SECRET,
  MAIN_SECRET,
  basic(ACCOUNT_SID, AUTH_TOKEN),
  basic(STANDARD_KEY, STANDARD_SECRET),
  basic(MAIN_KEY, MAIN_SECRET),
].map((secret) => secret.replace("Basic ", ""));

export { stopEmulators as stopUpstreams };

/**
 * The emulator, reached through a proxy that sees every request and responds as a test has
 * scripted, if at all.
 */
export async function startUpstream() {
  const seen: SeenRequest[] = [];
  const script: Scripted[] = [];
  // Dates have whole seconds: a clock of its own gives each resource a later date than the one before.
  let seconds = Date.UTC(2024, 2, 5, 9) / 1000;
  const emulator = await startEmulator({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    serviceSid: SERVICE_SID,
    now: () => 1000 * seconds++,
  });

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = "", headers } = req;
    const { pathname: path, searchParams: query } = new URL(req.url ?? "", url);
    const body = await buffer(req);
    const form = [...new URLSearchParams(body.toString())];
    seen.push({ method, path, query, form, contentType: headers["content-type"] });
    const scripted = script.shift();
    if (scripted === undefined) return forward(req, body, res);
    if (scripted.hangs === true) return;
    if (scripted.drops === true) return void req.socket.destroy();
    const isText = typeof scripted.body === "string";
    res.writeHead(scripted.status, {
      "content-type": isText ? "text/html" : "application/json",
      ...scripted.headers,
    });
    res.end(isText ? scripted.body : JSON.stringify(scripted.body));
  }

  function forward(req: IncomingMessage, body: Buffer, res: ServerResponse): void {
    const { method = "", headers, url: path = "" } = req;
    request(emulator.url, { agent: false, method, headers, path }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    }).end(body);
  }

  async function listWebhooks(): Promise<WebhookResource[]> {
    const { body } = await callApi(emulator, "GET", `${webhooksPath(emulator)}?PageSize=1000`);
    return (body as { webhooks: WebhookResource[] }).webhooks;
  }

  const port = await startServer((req, res) => void serve(req, res));
  const url = `http://127.0.0.1:${port}`;
  emulator.createKey({ sid: STANDARD_KEY, secret: STANDARD_SECRET, friendly_name: "standard" });
  const main = { secret: MAIN_SECRET, friendly_name: "main", type: "main" } as const;
  emulator.createKey({ sid: MAIN_KEY, ...main });
  return {
    url,
    port,
    seen,
    script,
    listWebhooks,
    createKey: (friendly_name: string) => emulator.createKey({ friendly_name }),
    createWebhook: (webhook: NewWebhook) => emulator.createWebhook(webhook),
  };
}

export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

/** Options of a client of an upstream, as the account unless told otherwise. */
export function clientOptions(url: string, as: "account" | "main" | "standard" = "account") {
  const credentials = {
    account: { password: AUTH_TOKEN },
    main: { username: MAIN_KEY, password: MAIN_SECRET },
    standard: { username: STANDARD_KEY, password: STANDARD_SECRET },
  };
  return {
    accountUrl: url,
    verifyUrl: url,
    accountSid: ACCOUNT_SID,
    serviceSid: SERVICE_SID,
    ...credentials[as],
  };
}

export const WEBHOOK: WebhookInput = {
  friendly_name: "login events",
  event_types: ["challenge.approved", "challenge.denied"],
  webhook_url: "https://hooks.example.test/push/events",
};
