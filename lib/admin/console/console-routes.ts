import type { Request, Response } from "express";
import { z } from "zod";
import { PUSH_EVENT_TYPES } from "../../event/event";
import { parseInput } from "../client/schemas";
import type { AuditAction } from "../http/audit";
import { readJson } from "../http/json-body";
import { RouterError } from "../http/router-error";
import type { Console, ShownReceiver } from "./console";
import type { FindingView, ResendResult } from "./console-view";
import { changeLetters, readQueue } from "./queue-view";
import { describeDetails, resendRequest, type KeptRequest } from "./request-details";
import { sendTestEvent } from "./test-event";

/** The response of a console route; undefined when the route has responded itself. */
export type ConsoleResponse =
  { status: number; body?: unknown; uuid?: string | undefined } | undefined;

/** One thing that the console's page asks of the router. */
export interface ConsoleRoute {
  method: "get" | "post";
  path: string;
  /** Name of a write, for the audit; undefined for a route that only reads. */
  action?: AuditAction;
  run(req: Request, res: Response): Promise<ConsoleResponse>;
}

const letterSchema = z.strictObject({
  uuid: z.string().min(1).max(256),
  accountSid: z.string().max(64),
  receiver: z.string().max(100).optional(),
});
const letterChoiceSchema = z.union([
  z.strictObject({ letters: z.array(letterSchema).min(1).max(1_000) }),
  z.strictObject({ error: z.string().max(1_000) }),
  z.strictObject({ all: z.literal(true) }),
]);

const resendSchema = z.strictObject({ ids: z.array(z.int()).min(1).max(200) });

const testEventSchema = z.strictObject({
  type: z.enum(PUSH_EVENT_TYPES),
  version: z.enum(["v1", "v2"]).default("v2"),
  via: z.enum(["direct", "network"]).default("direct"),
});

/** Lists the routes of a console: the files of its page, and the data that these read and write. */
export function listConsoleRoutes(shown: Console): ConsoleRoute[] {
  const { receiver, queue } = shown;
  const routes: ConsoleRoute[] = [...shown.assets.keys()].map((path) => ({
    method: "get",
    path,
    run: (req, res) => Promise.resolve(sendAsset(shown, path, req, res)),
  }));
  routes.push({
    method: "get",
    path: "/console",
    run: () => Promise.resolve({ status: 200, body: shown.readSettings() }),
  });
  if (receiver !== undefined) routes.push(...listReceiverRoutes(shown, receiver));
  if (queue !== undefined) {
    routes.push({
      method: "get",
      path: "/console/queue",
      run: async () => ({ status: 200, body: await readQueue(queue, shown.reveals) }),
    });
    for (const change of ["retry", "discard"] as const) {
      routes.push({
        method: "post",
        path: `/console/dead-letters/${change}`,
        action: `dead-letter.${change}`,
        async run(req, res) {
          const choice = parseInput("dead letter", letterChoiceSchema, await readJson(req, res));
          const count = await changeLetters(queue, change, choice);
          const letters = "letters" in choice ? choice.letters : [];
          const uuid = letters.length === 1 ? letters[0]?.uuid : undefined;
          return { status: 200, body: { count }, uuid };
        },
      });
    }
  }
  return routes;
}

function listReceiverRoutes(
  { client, queue, reveals }: Console,
  receiver: ShownReceiver,
): ConsoleRoute[] {
  const { push, inspection, log, live } = receiver;
  const { signRequest } = inspection;
  const routes: ConsoleRoute[] = [
    {
      method: "get",
      path: "/console/live",
      run(req, res) {
        if (req.method === "HEAD") return Promise.resolve({ status: 204 });
        const { after } = req.query;
        const cursor = typeof after === "string" ? after : undefined;
        if (live.open(req, res, cursor)) return Promise.resolve(undefined);
        const message = "Too many pages are open: close one, or wait a moment.";
        return Promise.reject(new RouterError(503, "TOO_MANY_PAGES", message, 5));
      },
    },
    {
      method: "get",
      path: "/console/statistics",
      run: () => Promise.resolve({ status: 200, body: log.readStatistics() }),
    },
    {
      method: "get",
      path: "/console/requests/:id",
      async run(req) {
        const kept = findRequest(log, Number(req.params.id));
        return { status: 200, body: await describeDetails(kept, queue, reveals) };
      },
    },
    {
      method: "post",
      path: "/console/resend",
      action: "request.resend",
      async run(req, res) {
        const { ids } = parseInput("requests", resendSchema, await readJson(req, res));
        const requests = ids.map((id) => findRequest(log, id));
        const results: ResendResult[] = [];
        // One after the other: a page must not run the handlers of 200 events at a time.
        for (const one of requests) results.push(await resendRequest(one, push, queue));
        const uuid = requests.length === 1 ? requests[0]?.queued?.uuid : undefined;
        return { status: 200, body: { results }, uuid };
      },
    },
    {
      method: "get",
      path: "/console/requests/:id/explanation",
      run: (req) => Promise.resolve(explainRequest(log, Number(req.params.id))),
    },
    {
      method: "get",
      path: "/console/findings",
      async run() {
        const findings: FindingView[] = await client.webhooks.check(push);
        return { status: 200, body: { findings } };
      },
    },
  ];
  if (signRequest === undefined) return routes;
  routes.push({
    method: "post",
    path: "/console/test-event",
    action: "test-event.send",
    async run(req, res) {
      const choice = parseInput("test event", testEventSchema, await readJson(req, res));
      const result = await sendTestEvent(choice, push, inspection, signRequest);
      return { status: 200, body: result, uuid: result.uuid };
    },
  });
  return routes;
}

function findRequest(log: ShownReceiver["log"], id: number): KeptRequest {
  const kept = Number.isSafeInteger(id) ? log.find(id) : undefined;
  if (kept !== undefined) return kept;
  throw new RouterError(404, "NOT_FOUND", "This request is no longer in memory.");
}

function explainRequest(log: ShownReceiver["log"], id: number): ConsoleResponse {
  const result = Number.isSafeInteger(id) ? log.explain(id) : "unknown request";
  if (result === "unknown request") {
    const message = "This request is no longer in memory, or has no reason to look for.";
    throw new RouterError(404, "NOT_FOUND", message);
  }
  if (result === "budget used up") {
    const message = "No reason can be looked for now: at most 10 within a minute. Try again later.";
    throw new RouterError(429, "BUDGET_USED_UP", message);
  }
  return { status: 200, body: result };
}

function sendAsset(
  { assets }: Console,
  path: string,
  req: Request,
  res: Response,
): ConsoleResponse {
  const asset = assets.get(path);
  const [pathname = ""] = req.originalUrl.split("?", 1);
  if (path === "/" && !pathname.endsWith("/")) {
    // Relative links need the slash. The last segment alone: a proxy may have rewritten the others.
    res.setHeader("Location", `./${pathname.slice(pathname.lastIndexOf("/") + 1)}/`);
    return { status: 307 };
  }
  if (asset !== undefined) {
    res.setHeader("Content-Type", asset.contentType);
    res.status(200).end(asset.body);
  }
  return undefined;
}
