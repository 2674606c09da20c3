import type { NewWebhook } from "../../lib/emulator/options";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  createAdminClient,
  type AdminClientOptions,
  type WebhookInput,
} from "express-push-verification/admin";
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID } from "./webhook-requests";
import { clientOf, startEmulator, stopEmulators } from "./emulators";
import { startServer } from "./servers";
import { collect } from "./waiting";

/** A response that a test chooses instead of the right one. */
interface Scripted {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  hangs?: boolean;
  /** Closes the connection instead. */
  drops?: boolean;
}

export const MAIN_KEY = `SK${"2".repeat(32)}`;
export const CREDENTIALS = {
  account: { username: ACCOUNT_SID, password: AUTH_TOKEN },
  main: { username: MAIN_KEY, password: "hush-main-secret" },
  standard: { username: `SK${"1".repeat(32)}`, password: "hush-standard-secret" },
};

export const SECRETS = Object.values(CREDENTIALS).flatMap(({ username, password }) => [
  password,
  btoa(`${username}:${password}`),
]);

/**
 * The emulator, reached through a proxy that sees every request and responds as a test has
 * scripted, if at all.
 */
export async function startUpstream() {
  /** The requests, such as `POST /v2/x EventTypes=*`. */
  const seen: string[] = [];
  /** The responses to the next requests; undefined is that of the emulator. */
  const script: (Scripted | undefined)[] = [];
  // Dates have whole seconds: a clock of its own gives each resource a later date than the one before.
  let seconds = Date.UTC(2024, 2, 5, 9) / 1000;
  const emulator = await startEmulator({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    serviceSid: SERVICE_SID,
    now: () => 1000 * seconds++,
  });

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = "", headers, url: path = "" } = req;
    const body = await buffer(req);
    const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
    seen.push(`${method} ${path} ${isForm ? body.toString() : ""}`.trim());
    const scripted = script.shift();
    if (scripted === undefined) {
      request(emulator.url, { agent: false, method, headers, path }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      }).end(body);
    } else if (scripted.drops === true) {
      req.socket.destroy();
    } else if (scripted.hangs !== true) {
      const isText = typeof scripted.body === "string";
      const type = isText ? "text/html" : "application/json";
      res.writeHead(scripted.status, { "content-type": type, ...scripted.headers });
      res.end(isText ? scripted.body : JSON.stringify(scripted.body));
    }
  }

  const url = `http://127.0.0.1:${await startServer((req, res) => void serve(req, res))}`;
  const { standard, main } = CREDENTIALS;
  const ofStandard = { sid: standard.username, secret: standard.password };
  emulator.createKey({ ...ofStandard, friendly_name: "standard" });
  const ofMain = { sid: MAIN_KEY, secret: main.password, type: "main" } as const;
  emulator.createKey({ ...ofMain, friendly_name: "main" });
  return {
    url,
    seen,
    script,
    client: clientAt(url),
    listWebhooks: () => collect(clientOf(emulator).webhooks.list({ pageSize: 1000 })),
    createKey: (friendly_name: string) => emulator.createKey({ friendly_name }),
    createWebhook: (webhook: NewWebhook) => emulator.createWebhook(webhook),
    createChallenge(entity_identity: string): string {
      const { sid: factor_sid } = emulator.createFactor({ entity_identity });
      emulator.verifyFactor(factor_sid);
      return emulator.createChallenge({ factor_sid }).sid;
    },
  };
}

type Upstream = Awaited<ReturnType<typeof startUpstream>>;

export function useUpstream(): Upstream {
  const upstream = {} as Upstream;
  beforeEach(async () => void Object.assign(upstream, await startUpstream()));
  afterEach(stopEmulators);
  return upstream;
}

export const clientAt = (url: string, options: Partial<AdminClientOptions> = {}) =>
  createAdminClient({ ...clientOptions(url), timeoutMs: 60_000, ...options });

export const clientOptions = (url: string) => ({
  accountUrl: url,
  verifyUrl: url,
  accountSid: ACCOUNT_SID,
  serviceSid: SERVICE_SID,
  password: AUTH_TOKEN,
});

export const WEBHOOK: WebhookInput = {
  friendly_name: "login events",
  event_types: ["challenge.approved", "challenge.denied"],
  webhook_url: "https://hooks.example.test/push/events",
};
