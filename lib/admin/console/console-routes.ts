import type { Request, Response } from "express";
import * as z from "../../validation/zod";
import { PUSH_EVENT_TYPES } from "../../event/event";
import { parseInput } from "../client/schemas";
import type { AuditAction, Audited } from "../http/audit";
import { readJson } from "../http/json-body";
import { RouterError } from "../http/router-error";
import type { Asset } from "./assets";
import type { Console, ShownReceiver } from "./console";
import { findLogin, toWaitRow } from "./find-login";
import { changeDeadLetters, readQueue } from "./queue-view";
import { describeDetails, resendRequest } from "./request-details";
import { sendTestEvent } from "./test-event";

/** The response of a console route; undefined when the route has responded itself. */
export type ConsoleResponse = { status: number; body?: unknown } | undefined;

/** A route of the console. */
export interface ConsoleRoute {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** Name of a write, for the audit; undefined for a route that only reads. */
  action?: AuditAction | undefined;
  run(req: Request, res: Response, audited: Audited): ConsoleResponse | Promise<ConsoleResponse>;
}

const deadLetterSchema = z.strictObject({
  uuid: z.string().min(1).max(256),
  accountSid: z.string().max(64),
  receiver: z.string().max(100).optional(),
});
const deadLetterChoiceSchema = z.union([
  z.strictObject({ deadLetters: z.array(deadLetterSchema).min(1).max(1_000) }),
  z.strictObject({
    error: z.string().max(1_000).optional(),
    count: z.int().min(1),
    untilMs: z.number(),
  }),
]);

const searchSchema = z.strictObject({ text: z.string().min(1).max(256) });

const MAX_WAITS = 200;

const testEventSchema = z.strictObject({
  type: z.enum(PUSH_EVENT_TYPES),
  version: z.enum(["v1", "v2"]).default("v2"),
  via: z.enum(["direct", "network"]).default("direct"),
});

/** Names the person who sent a request. */
type ReadActor = (req: Request) => Promise<string | undefined>;

/** Lists the routes of a console: the files of its page, and the data that these read and write. */
export function listConsoleRoutes(shown: Console, readActor: ReadActor): ConsoleRoute[] {
  const { assets, receiver, queue, reveals } = shown;
  const routes: ConsoleRoute[] = [...assets].map(([path, asset]) => ({
    method: "get",
    path,
    run: (req, res) => sendAsset(asset, path, req, res),
  }));
  routes.push(read("/console", shown.readSettings));
  if (receiver !== undefined) routes.push(...listReceiverRoutes(shown, receiver, readActor));
  if (queue === undefined) return routes;
  routes.push(read("/console/queue", () => readQueue(queue, reveals)));
  for (const change of ["retry", "discard"] as const) {
    routes.push({
      method: "post",
      path: `/console/dead-letters/${change}`,
      action: `dead-letter.${change}`,
      async run(req, res, audited) {
        const choice = parseInput("dead letter", deadLetterChoiceSchema, await readJson(req, res));
        await changeDeadLetters(queue, change, choice, audited);
        return { status: 200, body: { count: audited.count } };
      },
    });
  }
  return routes;
}

/** The route that responds with the result of a function. */
function read(path: string, find: (req: Request) => unknown): ConsoleRoute {
  return { method: "get", path, run: async (req) => ({ status: 200, body: await find(req) }) };
}

/** A parameter of a path is a list only where the path has a wildcard. */
function readId({ id }: Request["params"]): string {
  return String(id);
}

function listReceiverRoutes(
  { client, queue, reveals }: Console,
  { push, inspection, log, live }: ShownReceiver,
  readActor: ReadActor,
): ConsoleRoute[] {
  const { confirm, signRequest } = inspection;
  const routes: ConsoleRoute[] = [
    {
      method: "get",
      path: "/console/live",
      run(req, res) {
        if (req.method === "HEAD") return { status: 204 };
        const { after } = req.query;
        if (live.open(req, res, typeof after === "string" ? after : undefined)) return undefined;
        const message = "Too many pages are open: close one, or wait a moment.";
        throw new RouterError(503, "TOO_MANY_PAGES", message, 5);
      },
    },
    read("/console/waits", () =>
      inspection
        .readPendingWaits()
        .list()
        .slice(0, MAX_WAITS)
        .map((wait) => toWaitRow(wait, reveals)),
    ),
    {
      // A POST, as the address of a request is in many logs.
      method: "post",
      path: "/console/search",
      async run(req, res) {
        const { text } = parseInput("search", searchSchema, await readJson(req, res));
        return {
          status: 200,
          body: await findLogin(text, { client, log, inspection, queue, reveals }),
        };
      },
    },
    read("/console/statistics", log.readStatistics),
    read("/console/requests/:id", ({ params }) =>
      describeDetails(log.find(readId(params)), queue, reveals),
    ),
    read("/console/requests/:id/explanation", ({ params }) => log.explain(readId(params))),
    read("/console/findings", async () => ({ findings: await client.webhooks.check(push) })),
    {
      method: "post",
      path: "/console/requests/:id/resend",
      action: "request.resend",
      async run(req, _res, audited) {
        const id = readId(req.params);
        const request = log.find(id);
        const { uuid } = request.queued ?? {};
        if (uuid !== undefined) audited.uuid = uuid;
        const problem = await resendRequest(request, { push, confirm }, queue);
        const resent = { atMs: Date.now(), by: await readActor(req), problem };
        log.update(id, { resent });
        return { status: 200, body: resent };
      },
    },
  ];
  if (signRequest === undefined) return routes;
  routes.push({
    method: "post",
    path: "/console/test-event",
    action: "test-event.send",
    async run(req, res, audited) {
      const choice = parseInput("test event", testEventSchema, await readJson(req, res));
      const result = await sendTestEvent(choice, push, inspection, signRequest);
      audited.uuid = result.uuid;
      return { status: 200, body: result };
    },
  });
  return routes;
}

function sendAsset(asset: Asset, path: string, req: Request, res: Response): ConsoleResponse {
  const [pathname = ""] = req.originalUrl.split("?", 1);
  if (path === "/" && !pathname.endsWith("/")) {
    // Relative links need the slash. The last segment alone: a proxy may have rewritten the others.
    res.setHeader("Location", `./${pathname.slice(pathname.lastIndexOf("/") + 1)}/`);
    return { status: 307 };
  }
  res.setHeader("Content-Type", asset.contentType);
  res.status(200).end(asset.body);
  return undefined;
}
