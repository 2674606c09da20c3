import type { Request } from "express";
import { hideUserInfo } from "../../form/url";
import type { AuditAction } from "../http/audit";
import type { AdminClient } from "../client/client";
import type { ConsoleRoute } from "../console/console-routes";
import { readJson } from "../http/json-body";
import type { KeyInput } from "../client/key";
import { parseInput } from "../client/schemas";
import { BODY_SCHEMAS, type BodyName } from "./body-schemas";
import { fetchPage, linkFrom } from "./lists";
import type { Webhook, WebhookChange, WebhookInput } from "../client/webhook";

/** One route of the router. */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  path: "/keys" | "/keys/:sid" | "/webhooks" | "/webhooks/:sid";
  /** Name of the write in the audit; undefined for a route that only reads. */
  action?: AuditAction;
  summary: string;
  input?: BodyName;
  output?: BodyName;
  /** @default 200 */
  status?: number;
  /** @param input the body, parsed with the schema of `input`. */
  run(client: AdminClient, req: Request, input: unknown): Promise<unknown>;
}

const UPDATE_METHODS = ["post", "patch"] as const;

/** Routes of the router; the OpenAPI document describes the same list. */
export const ROUTES: readonly Route[] = [
  {
    method: "get",
    path: "/keys",
    summary: "List Keys",
    output: "KeyPage",
    run: async (client, req) => fetchPage(client.keys, "keys", req),
  },
  {
    method: "post",
    path: "/keys",
    action: "key.create",
    summary: "Create a Standard Key; no other response has its secret",
    input: "KeyInput",
    output: "CreatedKey",
    status: 201,
    run: async (client, _req, input: KeyInput) => client.keys.create(input),
  },
  {
    method: "get",
    path: "/keys/:sid",
    summary: "Fetch a Key",
    output: "Key",
    run: async (client, req) => client.keys.fetch(readSid(req)),
  },
  ...UPDATE_METHODS.map((method): Route => ({
    method,
    path: "/keys/:sid",
    action: "key.update",
    summary: "Rename a Key",
    input: "KeyInput",
    output: "Key",
    run: async (client, req, input: KeyInput) => client.keys.update(readSid(req), input),
  })),
  {
    method: "delete",
    path: "/keys/:sid",
    action: "key.delete",
    summary: "Revoke a Key; the Key of the router itself only with ?force=true",
    status: 204,
    run: async (client, req) =>
      client.keys.delete(readSid(req), { force: req.query.force === "true" }),
  },
  {
    method: "get",
    path: "/webhooks",
    summary: "List Webhooks",
    output: "WebhookPage",
    run: async (client, req) =>
      fetchPage(client.webhooks, "webhooks", req, (webhook) => showWebhook(req, webhook)),
  },
  {
    method: "post",
    path: "/webhooks",
    action: "webhook.create",
    summary: "Create a Webhook",
    input: "WebhookInput",
    output: "Webhook",
    status: 201,
    run: async (client, req, input: WebhookInput) =>
      showWebhook(req, await client.webhooks.create(input)),
  },
  {
    method: "get",
    path: "/webhooks/:sid",
    summary: "Fetch a Webhook",
    output: "Webhook",
    run: async (client, req) => showWebhook(req, await client.webhooks.fetch(readSid(req))),
  },
  ...UPDATE_METHODS.map((method): Route => ({
    method,
    path: "/webhooks/:sid",
    action: "webhook.update",
    summary: "Change a Webhook",
    input: "WebhookChange",
    output: "Webhook",
    run: async (client, req, change: WebhookChange) =>
      showWebhook(req, await client.webhooks.update(readSid(req), change)),
  })),
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
 * Lists the routes with a client. `run` throws ApiError or InputError of the client, and RouterError
 * as `readJson`.
 */
export function listRoutes(client: AdminClient): ConsoleRoute[] {
  return ROUTES.map(({ method, path, action, status = 200, input, output, run }) => {
    const resource = path.startsWith("/keys") ? "key" : "webhook";
    return {
      method,
      path,
      action,
      async run(req, res) {
        const given = input && parseInput(resource, BODY_SCHEMAS[input], await readJson(req, res));
        const body = await run(client, req, given);
        return { status, body: output && BODY_SCHEMAS[output].parse(body) };
      },
    };
  });
}

function readSid(req: Request): string {
  return String(req.params.sid);
}

/** Its `url` leads to the router; user info in its webhook_url is a password. */
function showWebhook(req: Request, webhook: Webhook): Webhook {
  const webhook_url = webhook.webhook_url && hideUserInfo(webhook.webhook_url);
  return { ...webhook, webhook_url, url: linkFrom(req, `webhooks/${webhook.sid}`) };
}
