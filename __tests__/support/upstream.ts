import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import errors from "../fixtures/errors.json";
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID } from "./calls";
import { startServer } from "./servers";

/** An answer that a test wants instead of the right one. */
export interface Scripted {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Never answers. */
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

type Resource = Record<string, unknown> & { sid: string };

export const KEY_SECRET = "q7Zt0dWm3KxR9bYc5HnL1sVfE8uJ4aPg";
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

/** A server of the account API and the verification API, with the fixtures' shapes. */
export async function startUpstream() {
  const keys: Resource[] = [];
  const webhooks: Resource[] = [];
  const seen: SeenRequest[] = [];
  const script: Scripted[] = [];
  let seconds = 0;

  const now = () => new Date(Date.UTC(2024, 2, 5, 9, 0, seconds++));
  const keysPath = `/2010-04-01/Accounts/${ACCOUNT_SID}/Keys`;
  const webhooksPath = `/v2/Services/${SERVICE_SID}/Webhooks`;

  function createKey(friendlyName: string): Resource {
    const date = now().toUTCString().replace("GMT", "+0000");
    const key = {
      sid: `SK${randomBytes(16).toString("hex")}`,
      friendly_name: friendlyName,
      date_created: date,
      date_updated: date,
    };
    keys.unshift(key);
    return key;
  }

  function createWebhook(form: [string, string][]): Resource {
    const date = now().toISOString().replace(/\.\d+/, "");
    const sid = `YW${randomBytes(16).toString("hex")}`;
    const webhook = {
      sid,
      service_sid: SERVICE_SID,
      account_sid: ACCOUNT_SID,
      friendly_name: "",
      event_types: [] as string[],
      status: "enabled",
      version: "v2",
      webhook_url: "",
      webhook_method: "POST",
      date_created: date,
      date_updated: date,
      url: `${url}${webhooksPath}/${sid}`,
    };
    webhooks.push(change(webhook, form));
    return webhook;
  }

  function change(resource: Resource, form: [string, string][]): Resource {
    const names = new Set(form.map(([name]) => name));
    for (const name of names) {
      const values = form.filter((pair) => pair[0] === name).map((pair) => pair[1]);
      const field = name.replaceAll(
        /[A-Z]/g,
        (letter, at: number) => (at > 0 ? "_" : "") + letter.toLowerCase(),
      );
      resource[field] = field === "event_types" ? values : values[0];
    }
    return resource;
  }

  function listPage(all: Resource[], path: string, query: URLSearchParams) {
    const size = Number(query.get("PageSize") ?? 50);
    const page = Number(query.get("Page") ?? 0);
    const link = (index: number) => `${path}?PageSize=${size}&Page=${index}&PageToken=PT${index}`;
    const items = all.slice(page * size, (page + 1) * size);
    return {
      items,
      page,
      size,
      next: (page + 1) * size < all.length ? link(page + 1) : null,
      previous: page > 0 ? link(page - 1) : null,
    };
  }

  function answer(res: ServerResponse, status: number, body?: unknown, headers: object = {}): void {
    const isText = typeof body === "string";
    res.writeHead(status, {
      "content-type": isText ? "text/html" : "application/json",
      ...headers,
    });
    res.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
  }

  function answerError(res: ServerResponse, name: keyof typeof errors): void {
    const { status, body, headers } = errors[name] as {
      status: number;
      body: object;
      headers: object;
    };
    answer(res, status, body, headers);
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(req.url ?? "", url);
    const method = req.method ?? "";
    const form = [...new URLSearchParams(await text(req))];
    seen.push({ method, path, query, form, contentType: req.headers["content-type"] });
    const scripted = script.shift();
    if (scripted?.hangs === true) return;
    if (scripted?.drops === true) return void req.socket.destroy();
    if (scripted !== undefined)
      return answer(res, scripted.status, scripted.body, scripted.headers);

    const { authorization } = req.headers;
    const isMain = [basic(ACCOUNT_SID, AUTH_TOKEN), basic(MAIN_KEY, MAIN_SECRET)].includes(
      authorization ?? "",
    );
    const isStandard = authorization === basic(STANDARD_KEY, STANDARD_SECRET);
    if (!isMain && !isStandard) return answerError(res, "wrongCredentials");
    if (path.startsWith(keysPath)) {
      if (!isMain) return answerError(res, "keyEndpointWithStandardKey");
      return serveKeys(res, method, path.slice(keysPath.length), query, form);
    }
    if (path.startsWith(webhooksPath)) {
      return serveWebhooks(res, method, path.slice(webhooksPath.length), query, form);
    }
    answerError(res, "minimal404");
  }

  function serveKeys(
    res: ServerResponse,
    method: string,
    rest: string,
    query: URLSearchParams,
    form: [string, string][],
  ): void {
    if (rest === ".json" && method === "POST") {
      return answer(res, 201, { ...createKey(form[0]?.[1] ?? ""), secret: KEY_SECRET });
    }
    if (rest === ".json") {
      const { items, page, size, next, previous } = listPage(keys, `${keysPath}.json`, query);
      return answer(res, 200, {
        keys: items,
        page,
        page_size: size,
        start: page * size,
        end: 0,
        uri: "",
        first_page_uri: "",
        next_page_uri: next,
        previous_page_uri: previous,
      });
    }
    const key = keys.find(({ sid }) => rest === `/${sid}.json`);
    if (key === undefined) return answerError(res, "keyNotFound");
    if (method === "DELETE") keys.splice(keys.indexOf(key), 1);
    return method === "DELETE" ? answer(res, 204) : answer(res, 200, change(key, form));
  }

  function serveWebhooks(
    res: ServerResponse,
    method: string,
    rest: string,
    query: URLSearchParams,
    form: [string, string][],
  ): void {
    if (rest === "" && method === "POST") return answer(res, 201, createWebhook(form));
    if (rest === "") {
      const { items, page, size, next, previous } = listPage(webhooks, url + webhooksPath, query);
      const meta = {
        page,
        page_size: size,
        first_page_url: "",
        previous_page_url: previous,
        url: "",
        next_page_url: next,
        key: "webhooks",
      };
      return answer(res, 200, { webhooks: items, meta });
    }
    const webhook = webhooks.find(({ sid }) => rest === `/${sid}`);
    if (webhook === undefined) return answerError(res, "webhookNotFound");
    if (method === "DELETE") webhooks.splice(webhooks.indexOf(webhook), 1);
    return method === "DELETE" ? answer(res, 204) : answer(res, 200, change(webhook, form));
  }

  const port = await startServer((req, res) => void serve(req, res));
  const url = `http://127.0.0.1:${port}`;
  return { url, port, keys, webhooks, seen, script, createKey, createWebhook };
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

export const WEBHOOK_FORM: [string, string][] = [
  ["FriendlyName", "login events"],
  ["EventTypes", "challenge.approved"],
  ["EventTypes", "challenge.denied"],
  ["WebhookUrl", "https://hooks.example.test/push/events"],
];
