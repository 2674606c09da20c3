import type { Request, Response } from "express";
import type { z } from "zod";
import { ApiError } from "./api-error";
import type { AuditAction } from "./audit";
import type { AdminClient } from "./client";
import { parseInput } from "./input";
import { readJson } from "./json-body";
import { MAIN_KEY_REQUIRED, RouterError } from "./problem";
import { keyInputSchema, webhookChangeSchema, webhookInputSchema } from "./resources";
import {
  createdKeyViewSchema,
  describePage,
  keyPageViewSchema,
  keyViewSchema,
  pageQueryTextSchema,
  webhookPageViewSchema,
  webhookViewSchema,
} from "./view";
import type { Webhook } from "./webhook";

/** What a route answers. */
export interface Reply {
  status: number;
  body?: unknown;
}

/** One thing that the router does. */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  path: "/keys" | "/keys/:sid" | "/webhooks" | "/webhooks/:sid";
  /** Name of a write, for the audit; undefined for what only reads. */
  action?: AuditAction;
  summary: string;
  input?: z.ZodType;
  output?: z.ZodType;
  status: number;
  run(client: AdminClient, req: Request, res: Response): Promise<unknown>;
}

const updateKey = {
  path: "/keys/:sid",
  action: "key.update",
  summary: "Rename a Key",
  input: keyInputSchema,
  output: keyViewSchema,
  status: 200,
  run: async (client, req, res) =>
    client.keys.update(readSid(req), parseInput("key", keyInputSchema, await readJson(req, res))),
} satisfies Omit<Route, "method">;

const updateWebhook = {
  path: "/webhooks/:sid",
  action: "webhook.update",
  summary: "Change a Webhook",
  input: webhookChangeSchema,
  output: webhookViewSchema,
  status: 200,
  run: async (client, req, res) => {
    const change = parseInput("webhook", webhookChangeSchema, await readJson(req, res));
    return showWebhook(req, await client.webhooks.update(readSid(req), change));
  },
} satisfies Omit<Route, "method">;

/** Everything that the router does; its OpenAPI document is made of the same list. */
export const ROUTES: readonly Route[] = [
  {
    method: "get",
    path: "/keys",
    summary: "List Keys",
    output: keyPageViewSchema,
    status: 200,
    run: async (client, req) => {
      const query = readPageQuery(req);
      const page = await client.keys.page(query);
      return { keys: page.items, meta: describePage(`${req.baseUrl}/keys`, "keys", page, query) };
    },
  },
  {
    method: "post",
    path: "/keys",
    action: "key.create",
    summary: "Create a Standard Key; its secret is shown this once",
    input: keyInputSchema,
    output: createdKeyViewSchema,
    status: 201,
    run: async (client, req, res) =>
      client.keys.create(parseInput("key", keyInputSchema, await readJson(req, res))),
  },
  {
    method: "get",
    path: "/keys/:sid",
    summary: "Fetch a Key",
    output: keyViewSchema,
    status: 200,
    run: async (client, req) => client.keys.fetch(readSid(req)),
  },
  { method: "post", ...updateKey },
  { method: "patch", ...updateKey },
  {
    method: "delete",
    path: "/keys/:sid",
    action: "key.delete",
    summary: "Revoke a Key; the one that the router itself uses only with ?force=true",
    status: 204,
    run: async (client, req) =>
      client.keys.delete(readSid(req), { force: req.query.force === "true" }),
  },
  {
    method: "get",
    path: "/webhooks",
    summary: "List Webhooks",
    output: webhookPageViewSchema,
    status: 200,
    run: async (client, req) => {
      const query = readPageQuery(req);
      const page = await client.webhooks.page(query);
      const meta = describePage(`${req.baseUrl}/webhooks`, "webhooks", page, query);
      return { webhooks: page.items.map((webhook) => showWebhook(req, webhook)), meta };
    },
  },
  {
    method: "post",
    path: "/webhooks",
    action: "webhook.create",
    summary: "Create a Webhook",
    input: webhookInputSchema,
    output: webhookViewSchema,
    status: 201,
    run: async (client, req, res) => {
      const input = parseInput("webhook", webhookInputSchema, await readJson(req, res));
      return showWebhook(req, await client.webhooks.create(input));
    },
  },
  {
    method: "get",
    path: "/webhooks/:sid",
    summary: "Fetch a Webhook",
    output: webhookViewSchema,
    status: 200,
    run: async (client, req) => showWebhook(req, await client.webhooks.fetch(readSid(req))),
  },
  { method: "post", ...updateWebhook },
  { method: "patch", ...updateWebhook },
  {
    method: "delete",
    path: "/webhooks/:sid",
    action: "webhook.delete",
    summary: "Delete a Webhook",
    status: 204,
    run: async (client, req) => client.webhooks.delete(readSid(req)),
  },
];

/**
 * Runs a route.
 *
 * @throws what the client throws; RouterError 403 when its credentials may not manage Keys.
 */
export async function runRoute(
  route: Route,
  client: AdminClient,
  req: Request,
  res: Response,
): Promise<Reply> {
  try {
    const body = await route.run(client, req, res);
    const { status, output } = route;
    return output === undefined ? { status } : { status, body: output.parse(body) };
  } catch (error) {
    if (route.path.startsWith("/keys") && (await needsMainKey(client, error))) {
      const { status, code, message } = MAIN_KEY_REQUIRED;
      throw new RouterError(status, String(code), message);
    }
    throw error;
  }
}

/** Whether a refusal is that of a sound Standard Key, and not of wrong credentials. */
async function needsMainKey(client: AdminClient, error: unknown): Promise<boolean> {
  if (!client.usesKey || !(error instanceof ApiError)) return false;
  if (error.status === 403) return true;
  if (error.status !== 401) return false;
  try {
    await client.webhooks.page({ pageSize: 1 });
    return true;
  } catch {
    // Then it is no matter of the kind of Key: the first refusal stands.
    return false;
  }
}

function readSid(req: Request): string {
  return String(req.params.sid);
}

function readPageQuery(req: Request) {
  const { page_size, page, page_token } = parseInput("query", pageQueryTextSchema, {
    ...req.query,
  });
  return { pageSize: page_size, page, pageToken: page_token };
}

function showWebhook(req: Request, webhook: Webhook): Webhook {
  return { ...webhook, url: `${req.baseUrl}/webhooks/${webhook.sid}` };
}
