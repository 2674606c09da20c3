import type { Request, Response } from "express";
import { hostname } from "node:os";
import * as z from "zod";
import {
  inspectReceiver,
  PUSH_EVENT_TYPES,
  type PushWebhooks,
  type ReceiverInspection,
} from "../../core/door";
import { hideUserInfo } from "../../kit/url";
import type { AdminClient } from "../client/client";
import type { Route } from "../http/route";
import { readAssets, type Asset } from "./assets";
import { createChanges } from "./changes";
import type { ConsoleSettings, DeadLetterChoice } from "./console-view";
import { findLogin } from "./find-login";
import { changeDeadLetters, nameFailures, readQueue, type ConsoleQueue } from "./queue-view";
import { createQueueStates } from "./queue-states";
import { describeDetails, resendRequest } from "./request-details";
import { createRequestLog } from "./request-log";
import { sendTestEvent, testEventSchema, type TestEventChoice } from "./test-event";
import { listUserRoutes } from "./user-routes";

/** What a console shows. */
export interface ConsoleParts {
  client: AdminClient;
  receiver?: PushWebhooks | undefined;
  queue?: ConsoleQueue | undefined;
  readOnly: boolean;
  reveals: boolean;
  /** Names the person who sent a request. */
  readActor(req: Request): Promise<string | undefined>;
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

/**
 * Creates the routes of a console: the files of its page, and the data that these read and write. From
 * now on the last requests of the receiver are kept in memory.
 *
 * @throws Error when the files of the page are missing.
 */
export function createConsole({ queue: given, ...others }: ConsoleParts): Route[] {
  const queue = given && nameFailures(given);
  const parts = { ...others, queue };
  const { client, receiver: push, readOnly, reveals } = parts;
  const routes = readAssets().map((asset): Route => ({
    method: "get",
    path: asset.path,
    run: (req, _input, _audited, res) => sendAsset(asset, req, res),
  }));
  const inspection = push && inspectReceiver(push);
  const publicUrls = push?.publicUrls.map(hideUserInfo) ?? [];
  routes.push(
    read("/console", (): ConsoleSettings => ({
      name: inspection?.name,
      readOnly,
      reveals,
      keySid: client.keySid,
      eventTypes: PUSH_EVENT_TYPES,
      hasQueue: queue !== undefined,
      receiver: push &&
        inspection && {
          publicUrls,
          isUrlComplete: publicUrls[0] === push.publicUrl,
          tokenCount: inspection.tokenCount,
          handledTypes: push.handledTypes(),
          hasConfirm: inspection.confirm !== undefined,
          canSendTest: inspection.signRequest !== undefined && !readOnly,
        },
    })),
  );
  if (push && inspection) routes.push(...listReceiverRoutes(parts, push, inspection));
  if (queue === undefined) return routes;
  routes.push(read("/console/queue", () => readQueue(queue, reveals)));
  for (const change of ["retry", "discard"] as const) {
    routes.push({
      method: "post",
      path: `/console/dead-letters/${change}`,
      action: `dead-letter.${change}`,
      input: deadLetterChoiceSchema,
      async run(_req, choice: DeadLetterChoice, audited) {
        await changeDeadLetters(queue, change, choice, audited);
        return { count: audited.count };
      },
    });
  }
  routes.push(...listUserRoutes(queue));
  return routes;
}

function read(path: string, run: Route["run"]): Route {
  return { method: "get", path, run };
}

/** A parameter of a path is a list only where the path has a wildcard. */
function readId({ params }: Request): string {
  return String(params.id);
}

function listReceiverRoutes(
  { client, queue, reveals, readActor }: ConsoleParts,
  push: PushWebhooks,
  inspection: ReceiverInspection,
): Route[] {
  const owner = { id: crypto.randomUUID().slice(0, 8), name: `${process.pid} on ${hostname()}` };
  const log = createRequestLog(inspection, owner, reveals);
  const refresh = queue && createQueueStates(log, queue, reveals);
  const readChanges = createChanges(log, inspection, reveals, refresh);
  const { confirm, signRequest } = inspection;
  const routes: Route[] = [
    read("/console/changes", ({ query: { after } }) =>
      readChanges(typeof after === "string" ? after : undefined),
    ),
    {
      // A POST, as the address of a request is in many logs.
      method: "post",
      path: "/console/search",
      input: z.strictObject({ text: z.string().min(1).max(256) }),
      run: (_req, { text }: { text: string }) =>
        findLogin(text, { client, log, inspection, queue, reveals }),
    },
    read("/console/requests/:id", (req) => describeDetails(log.find(readId(req)), queue, reveals)),
    read("/console/requests/:id/explanation", (req) => log.explain(readId(req))),
    read("/console/findings", async () => ({ findings: await client.webhooks.check(push) })),
    {
      method: "post",
      path: "/console/requests/:id/resend",
      action: "request.resend",
      async run(req, _input, audited) {
        const id = readId(req);
        const request = log.find(id);
        if (request.queued !== undefined) audited.uuid = request.queued.uuid;
        const problem = await resendRequest(request, { push, confirm }, queue);
        audited.code = problem;
        const resent = { atMs: Date.now(), by: await readActor(req), problem };
        log.update(id, { resent });
        return resent;
      },
    },
  ];
  if (signRequest === undefined) return routes;
  routes.push({
    method: "post",
    path: "/console/test-event",
    action: "test-event.send",
    input: testEventSchema,
    async run(_req, choice: TestEventChoice, audited) {
      const result = await sendTestEvent(choice, push, inspection, signRequest);
      audited.uuid = result.uuid;
      audited.code = result.failure ?? (result.status === 200 ? undefined : result.status);
      return result;
    },
  });
  return routes;
}

function sendAsset({ path, contentType, body }: Asset, req: Request, res: Response): void {
  const [pathname = ""] = req.originalUrl.split("?", 1);
  if (path === "/" && !pathname.endsWith("/")) {
    // Relative links need the slash. The last segment alone: a proxy may have rewritten the others.
    res.setHeader("Location", `./${pathname.slice(pathname.lastIndexOf("/") + 1)}/`);
    res.status(307).end();
  } else {
    res.setHeader("Content-Type", contentType);
    res.status(200).end(body);
  }
}
