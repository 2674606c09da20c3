import type { Request } from "express";
import { hideUserInfo } from "../../kit/url";
import * as z from "zod";
import type { PushWebhooks } from "../../index";
import type { QueueUser } from "../../durable";
import type { AdminClient } from "../client/client";
import type { KeyInput } from "../client/key";
import { keyInputSchema, webhookChangeSchema, webhookInputSchema } from "../client/input-rules";
import { createdKeySchema, keySchema, sidSchema, webhookSchema } from "../client/resource-schemas";
import type { Webhook, WebhookChange, WebhookInput } from "../client/webhook";
import type { ConsoleQueue } from "../console/queue-view";
import type { AuditEntry } from "../http/audit";
import type { Route } from "../http/route";
import { rehearse } from "../rehearsal/rehearse";
import { REHEARSAL_LINKS } from "../rehearsal/report";
import { fetchPage, linkFrom } from "./lists";

// Other fields that the service adds, such as links, are removed.
const keyBody = z.object(keySchema.shape);
const webhookBody = z.object(webhookSchema.shape);

const meta = z.object({
  page: z.number().nullable(),
  page_size: z.number().nullable(),
  first_page_url: z.string(),
  previous_page_url: z.string().nullable(),
  url: z.string(),
  next_page_url: z.string().nullable(),
  key: z.string(),
});

/** The bodies of requests and responses, by their names in the OpenAPI document. */
export const BODY_SCHEMAS = {
  Key: keyBody,
  CreatedKey: z.object(createdKeySchema.shape),
  KeyInput: keyInputSchema,
  KeyPage: z.object({ keys: z.array(keyBody), meta }),
  /** Its `url` leads to the router. */
  Webhook: webhookBody,
  WebhookInput: webhookInputSchema,
  WebhookChange: webhookChangeSchema,
  WebhookPage: z.object({ webhooks: z.array(webhookBody), meta }),
  Rehearsal: z.object({
    isOk: z.boolean(),
    identity: z.string(),
    rows: z.array(
      z.object({
        link: z.enum(REHEARSAL_LINKS),
        result: z.enum(["ok", "failed", "skipped"]),
        durationMs: z.number().optional(),
        reason: z.string().optional(),
        fix: z.string().optional(),
      }),
    ),
  }),
  User: z.strictObject({
    accountSid: sidSchema("AC"),
    entityIdentity: z.string().min(1).max(1_000),
  }),
  /** How many of each a queue has of a user. */
  UserData: z.object({
    waiting: z.int(),
    active: z.int(),
    delayed: z.int(),
    deadLetters: z.int(),
    outcomes: z.int(),
    entries: z.int(),
  }),
  Error: z.object({ code: z.union([z.string(), z.int()]), message: z.string(), status: z.int() }),
};

const UPDATE_METHODS = ["post", "patch"] as const;

/** Lists the routes that the OpenAPI document describes. */
export function listRoutes(
  client: AdminClient,
  push: PushWebhooks | undefined,
  queue: ConsoleQueue | undefined,
): Route[] {
  return [
    ...(push ? [createRehearsal(client, push)] : []),
    ...listKeyRoutes(client),
    ...listWebhookRoutes(client),
    ...(queue ? listUserRoutes(queue) : []),
  ];
}

function createRehearsal(client: AdminClient, push: PushWebhooks): Route {
  return {
    method: "post",
    path: "/rehearsal",
    action: "rehearsal.run",
    summary: "Rehearse a login; takes up to half a minute",
    output: BODY_SCHEMAS.Rehearsal,
    async run(_req, _input, audited) {
      const report = await rehearse({ push, client });
      if (!report.isOk) audited.code = "REHEARSAL_FAILED";
      return report;
    },
  };
}

function listKeyRoutes({ keys }: AdminClient): Route[] {
  return [
    {
      method: "get",
      path: "/keys",
      summary: "List Keys",
      output: BODY_SCHEMAS.KeyPage,
      run: (req) => fetchPage(keys, "keys", req),
    },
    {
      method: "post",
      path: "/keys",
      action: "key.create",
      summary: "Create a Standard Key; no other response has its secret",
      input: BODY_SCHEMAS.KeyInput,
      output: BODY_SCHEMAS.CreatedKey,
      status: 201,
      run: (_req, input: KeyInput) => keys.create(input),
    },
    {
      method: "get",
      path: "/keys/:sid",
      summary: "Fetch a Key",
      output: BODY_SCHEMAS.Key,
      run: (req) => keys.fetch(readSid(req)),
    },
    ...UPDATE_METHODS.map((method): Route => ({
      method,
      path: "/keys/:sid",
      action: "key.update",
      summary: "Rename a Key",
      input: BODY_SCHEMAS.KeyInput,
      output: BODY_SCHEMAS.Key,
      run: (req, input: KeyInput) => keys.update(readSid(req), input),
    })),
    {
      method: "delete",
      path: "/keys/:sid",
      action: "key.delete",
      summary: "Revoke a Key; the Key of the router itself only with ?force=true",
      status: 204,
      run: (req) => keys.delete(readSid(req), { force: req.query.force === "true" }),
    },
  ];
}

function listWebhookRoutes({ webhooks }: AdminClient): Route[] {
  return [
    {
      method: "get",
      path: "/webhooks",
      summary: "List Webhooks",
      output: BODY_SCHEMAS.WebhookPage,
      run: (req) => fetchPage(webhooks, "webhooks", req, (webhook) => showWebhook(req, webhook)),
    },
    {
      method: "post",
      path: "/webhooks",
      action: "webhook.create",
      summary: "Create a Webhook",
      input: BODY_SCHEMAS.WebhookInput,
      output: BODY_SCHEMAS.Webhook,
      status: 201,
      run: async (req, input: WebhookInput) => showWebhook(req, await webhooks.create(input)),
    },
    {
      method: "get",
      path: "/webhooks/:sid",
      summary: "Fetch a Webhook",
      output: BODY_SCHEMAS.Webhook,
      run: async (req) => showWebhook(req, await webhooks.fetch(readSid(req))),
    },
    ...UPDATE_METHODS.map((method): Route => ({
      method,
      path: "/webhooks/:sid",
      action: "webhook.update",
      summary: "Change a Webhook",
      input: BODY_SCHEMAS.WebhookChange,
      output: BODY_SCHEMAS.Webhook,
      async run(req, change: WebhookChange, audited) {
        const sid = readSid(req);
        const before = showWebhook(req, await webhooks.fetch(sid));
        const after = showWebhook(req, await webhooks.update(sid, change));
        audited.before = pickChanged(Object.keys(change) as (keyof WebhookChange)[], before, after);
        return after;
      },
    })),
    {
      method: "delete",
      path: "/webhooks/:sid",
      action: "webhook.delete",
      summary: "Delete a Webhook",
      status: 204,
      run: (req) => webhooks.delete(readSid(req)),
    },
  ];
}

/** An identity is in no address: addresses are in many logs. */
function listUserRoutes(queue: ConsoleQueue): Route[] {
  return [
    {
      method: "post",
      path: "/user-data/count",
      summary: "Count what the queue has of a user",
      input: BODY_SCHEMAS.User,
      output: BODY_SCHEMAS.UserData,
      run: (_req, user: QueueUser) => queue.countUserData(user),
    },
    {
      method: "post",
      path: "/user-data/erase",
      action: "user-data.erase",
      summary: "Erase what the queue has of a user",
      input: BODY_SCHEMAS.User,
      output: BODY_SCHEMAS.UserData,
      async run(_req, user: QueueUser, audited) {
        const erased = await queue.eraseUserData(user);
        audited.count = Object.values({ ...erased }).reduce((sum, count) => sum + count, 0);
        return erased;
      },
    },
  ];
}

function pickChanged(
  names: readonly (keyof WebhookChange)[],
  before: Webhook,
  after: Webhook,
): AuditEntry["before"] {
  const changed = names.filter((name) => String(before[name]) !== String(after[name]));
  return Object.fromEntries(changed.map((name) => [name, before[name]]));
}

function readSid(req: Request): string {
  return String(req.params.sid);
}

/** Its `url` leads to the router; user info in its webhook_url is a password. */
function showWebhook(req: Request, webhook: Webhook): Webhook {
  const webhook_url = webhook.webhook_url && hideUserInfo(webhook.webhook_url);
  return { ...webhook, webhook_url, url: linkFrom(req, `webhooks/${webhook.sid}`) };
}
